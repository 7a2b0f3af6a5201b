// A file that a script makes: written, or with --check only compared with what would be.

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Writes `text` to the file at `target`, a URL; with --check the script fails when it is stale. */
export async function keep(target, text) {
  if (!process.argv.includes("--check")) {
    await writeFile(target, text);
  } else if ((await readFile(target, "utf8")) !== text) {
    const name = fileURLToPath(target).slice(root.length);
    process.stderr.write(`${name} is not fresh: npm run generate\n`);
    process.exitCode = 1;
  }
}
