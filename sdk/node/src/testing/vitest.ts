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
import { checkReport, provedNothing } from "./proof/report.js";

interface OfReports {
  /** Passes when the report of `proveIdempotent` has no finding. */
  toBeIdempotent(): void;
}

declare module "vitest" {
  // Vitest 3.2 and newer takes the matchers of others from here.
  // biome-ignore lint/suspicious/noExplicitAny: it must be declared as Vitest declares it
  interface Matchers<T = any> extends OfReports {}
  // Vitest before that.
  // biome-ignore lint/suspicious/noExplicitAny: it must be declared as Vitest declares it
  interface Assertion<T = any> extends OfReports {}
}

expect.extend({
  toBeIdempotent(report: Report) {
    checkReport("toBeIdempotent", report);
    // `not` is for what was found: a proof that never came to its ways has found nothing.
    const pass = provedNothing(report) ? this.isNot === true : report.ok;
    return { pass, message: () => String(report) };
  },
});
