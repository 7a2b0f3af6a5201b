/** How fast the pages are with a million jobs: `npm run bench` prints figures, and asserts none. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["bench/**/*.bench.ts"], testTimeout: 0, hookTimeout: 0 },
});
