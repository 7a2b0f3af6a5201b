/**
 * A matcher for Vitest: `@halyard/node/testing/vitest`, imported once by the test or a setup file.
 *
 * ```js
 * import "@halyard/node/testing/vitest";
 *
 * expect(await proveIdempotent(handler, options)).toBeIdempotent();
 * ```
 */

import { expect } from "vitest";
import type { Report } from "./proof/index.js";

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: it must be declared as Vitest declares it
  interface Assertion<T = any> {
    /** Passes when the report of `proveIdempotent` has no finding. */
    toBeIdempotent(): void;
  }
}

expect.extend({
  toBeIdempotent(report: Report) {
    return { pass: report.ok, message: () => String(report) };
  },
});
