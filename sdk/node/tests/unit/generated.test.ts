/** The generated files are what their sources make. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test.each(["generate.js", "generate-statements.js", "generate-reference.js"])(
  "what %s makes is fresh",
  (name) => {
    const script = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [script, "--check"], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  },
);
