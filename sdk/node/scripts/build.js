// Makes dist anew: `npm run build`.

import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
rmSync(`${here}/dist`, { recursive: true, force: true });
const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
const options = { cwd: here, stdio: "inherit" };
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], options);
if (status === 0) {
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    copyFileSync(`${here}/../../${licence}`, `${here}/dist/${licence}`);
  }
}
process.exitCode = status ?? 1;
