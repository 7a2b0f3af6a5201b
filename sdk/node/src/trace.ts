/**
 * W3C trace contexts, when the program traces with OpenTelemetry: that of whoever creates a job
 * goes with the job, and is the parent of what its handler does.
 *
 * Its API package keeps what it needs on `globalThis`, under names that are the same for all of
 * version 1: so the active span is found without a dependency, and where there is none, nothing
 * happens.
 */

const API = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

interface Api {
  context?: {
    active(): Context;
    with<T>(context: Context, run: () => T): T;
  };
}

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
}

interface Span {
  spanContext(): SpanContext;
}

interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
  isRemote?: boolean;
}

function contexts(): Api["context"] {
  return (globalThis as Record<symbol, Api | undefined>)[API]?.context;
}

/** The trace context of the active span as a `traceparent`; `undefined` where there is none. */
export function activeTraceparent(): string | undefined {
  const span = contexts()?.active().getValue(SPAN) as Span | undefined;
  const context = span?.spanContext();
  if (context === undefined || /^0*$/.test(context.traceId) || /^0*$/.test(context.spanId)) {
    return undefined;
  }
  const flags = (context.traceFlags & 0xff).toString(16).padStart(2, "0");
  return `00-${context.traceId}-${context.spanId}-${flags}`;
}

/** Runs `run` as a child of this trace context, where there is one and the program traces. */
export function withTraceparent<T>(traceparent: string | null, run: () => T): T {
  const api = traceparent === null ? undefined : contexts();
  const [, traceId, spanId, flags] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/.exec(traceparent ?? "") ?? [];
  if (api === undefined || traceId === undefined || spanId === undefined) {
    return run();
  }
  const traceFlags = Number.parseInt(flags as string, 16);
  const span = new RemoteSpan({ traceId, spanId, traceFlags, isRemote: true });
  return api.with(api.active().setValue(SPAN, span), run);
}

/** A span of another process, of which no more than its context is known. */
class RemoteSpan implements Span {
  readonly #context: SpanContext;

  constructor(context: SpanContext) {
    this.#context = context;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return false;
  }

  end(): void {}
  recordException(): void {}

  setAttribute = () => this;
  setAttributes = () => this;
  addEvent = () => this;
  addLink = () => this;
  addLinks = () => this;
  setStatus = () => this;
  updateName = () => this;
}
