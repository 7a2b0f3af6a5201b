/**
 * The W3C trace context of whoever creates a job, when the program traces with OpenTelemetry.
 *
 * Its API package keeps what it needs on `globalThis`, under names that are the same for all of
 * version 1: so the active span is found without a dependency, and where there is none, nothing
 * happens.
 */

const API = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

interface Api {
  context?: { active(): { getValue(key: symbol): unknown } };
}

interface Span {
  spanContext(): { traceId: string; spanId: string; traceFlags: number };
}

/** The trace context of the active span as a `traceparent`; `undefined` where there is none. */
export function activeTraceparent(): string | undefined {
  const api = (globalThis as Record<symbol, Api | undefined>)[API];
  if (api?.context === undefined) {
    return undefined;
  }
  const span = api.context.active().getValue(SPAN) as Span | undefined;
  const context = span?.spanContext();
  if (context === undefined || /^0*$/.test(context.traceId) || /^0*$/.test(context.spanId)) {
    return undefined;
  }
  const flags = (context.traceFlags & 0xff).toString(16).padStart(2, "0");
  return `00-${context.traceId}-${context.spanId}-${flags}`;
}
