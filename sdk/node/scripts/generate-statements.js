// Makes src/_generated/statements.ts from the statements of the processed store, which all SDKs
// share: `npm run generate`. With --check it only says whether the file is fresh.

import { readFile } from "node:fs/promises";
import { keep } from "./fresh.js";

const source = new URL("../../rust/src/processed/", import.meta.url);
const target = new URL("../src/_generated/statements.ts", import.meta.url);
const NAMES = ["record.lua", "migrate.sql", "claim.sql", "read.sql", "complete.sql", "leave.sql"];

let text = `/**
 * The statements of the processed store.
 *
 * Made from sdk/rust/src/processed by scripts/generate-statements.js: npm run generate.
 * Do not edit.
 */
`;
for (const name of [...NAMES, "remove.sql", "prune.sql"]) {
  const statement = await readFile(new URL(name, source), "utf8");
  const escaped = statement
    .replaceAll("\\", "\\\\")
    .replaceAll("`", "\\`")
    .replaceAll("$" + "{", "\\${");
  text += `\nexport const ${name.split(".")[0].toUpperCase()} = \`
${escaped}\`;\n`;
}

await keep(target, text);
