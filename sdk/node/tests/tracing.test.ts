/** A trace goes through a job, when the program traces with OpenTelemetry. */

import { context, type SpanContext, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { expect, test } from "vitest";
import { sleep, withServer, withWorker } from "./scenarios/work.js";

const SPAN = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceFlags: 1,
};
const TRACEPARENT = `00-${SPAN.traceId}-${SPAN.spanId}-01`;

test("the span of a create is the parent of its handler's", () =>
  withServer(async (_, halyard) => {
    const untraced = await halyard.jobs.create({ task: "t", queue: "q" });
    expect(untraced.traceparent).toBeNull();

    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const create = (traceparent?: string) =>
      halyard.jobs.create({ task: "t", queue: "q", traceparent });
    const active = trace.setSpan(context.active(), trace.wrapSpanContext(SPAN));
    const traced = await context.with(active, () => create());
    expect(traced.traceparent).toBe(TRACEPARENT);
    const own = "00-00000000000000000000000000000001-0000000000000002-00";
    const given = await context.with(active, () => create(own));
    expect(given.traceparent).toBe(own);

    const parents = new Map<string, SpanContext | undefined>();
    const children = new Map<string, string | null>();
    await withWorker(
      halyard,
      (worker) =>
        worker.task("t", async (job) => {
          // What the program does with the span of another process is ignored, and no error.
          trace.getActiveSpan()?.setAttribute("job", job.id).addEvent("begun").end();
          await sleep(10);
          parents.set(job.id, trace.getActiveSpan()?.spanContext());
          const child = await halyard.jobs.create({ task: "child" });
          children.set(job.id, child.traceparent);
        }),
      async (work) => {
        for (const { id } of [untraced, traced, given]) {
          expect(await work.ended(id)).toMatchObject({ state: "completed", error: null });
        }
      },
    );
    expect(parents.get(untraced.id)).toBeUndefined();
    expect(parents.get(traced.id)).toMatchObject({ ...SPAN, isRemote: true });
    expect(parents.get(given.id)).toMatchObject({ traceFlags: 0, spanId: "0000000000000002" });
    expect([...children.values()].sort()).toEqual([null, own, TRACEPARENT].sort());
    context.disable();
  }));
