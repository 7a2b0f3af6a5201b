/** Tests in a browser, against the real server: `npm run test:browser`. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A reader waits more than it computes: two files beside each other, each with a browser and
    // servers of its own.
    maxWorkers: 2,
  },
});
