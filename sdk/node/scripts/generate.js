// Makes src/_generated/wire.ts from openapi.json: `npm run generate`. With --check it only says
// whether the file is fresh.

import { readFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import { keep } from "./fresh.js";

const source = new URL("../../../openapi.json", import.meta.url);
const target = new URL("../src/_generated/wire.ts", import.meta.url);

const head = `/**
 * The shapes of requests and answers, as they cross the wire.
 *
 * Made from openapi.json by openapi-typescript: npm run generate. Do not edit.
 */

`;
const document = JSON.parse(await readFile(source, "utf8"));
// Only the shapes: which call takes which is in the files of the calls.
const shapes = { ...document, paths: {} };
const text = head + astToString(await openapiTS(shapes, { alphabetize: true }));

await keep(target, text);
