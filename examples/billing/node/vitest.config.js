// How the tests run: each file beside a database and a payment provider of its own.

import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { dedupe: ["vitest"] },
  test: {
    include: ["billing/**/*.test.js"],
    setupFiles: ["billing/test-setup.js"],
    pool: "forks",
    // The story waits for leases most of the time.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A matcher must meet the Vitest that runs the tests, so the package is loaded by it.
    server: { deps: { inline: [/@halyard\/node/, /sdk\/node\/dist/] } },
  },
});
