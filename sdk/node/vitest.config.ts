/**
 * How the tests run: against `dist`, as it is published, and the real server named by HALYARD_BIN.
 */

import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const built = (file: string) => fileURLToPath(new URL(`./dist/${file}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: {
      "@halyard/node/testing/vitest": built("testing/vitest.js"),
      "@halyard/node/testing": built("testing/index.js"),
      "@halyard/node": built("index.js"),
    },
  },
  test: {
    include: ["{examples,tests}/**/*.test.{js,ts}"],
    pool: "forks",
    // Most of them wait for leases of other processes most of the time.
    maxWorkers: 6,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    server: { deps: { external: [/\/dist\//] } },
  },
});
