/** Which call does what: what stands for the server, behind the client's transport. */

import { readExact } from "../../json/read.js";
import { writeJson } from "../../json/write.js";
import type { Transport, TransportAnswer, TransportRequest } from "../../transport.js";
import { create } from "./creating.js";
import { type JobTable, Refused, type WireJob } from "./jobs.js";

interface Reply {
  status: number;
  value?: unknown;
}

/** A transport that reaches only these jobs. */
export function transportTo(jobs: JobTable): Transport {
  return {
    async send(request): Promise<TransportAnswer> {
      const { status, value } = reply(jobs, request);
      const body = writeJson("answer", value, true) ?? "";
      return { status, headers: { "content-type": "application/json" }, body };
    },
  };
}

function reply(jobs: JobTable, request: TransportRequest): Reply {
  try {
    return answer(jobs, request);
  } catch (error) {
    if (error instanceof Refused) {
      return { status: error.refusal.status, value: error.refusal };
    }
    throw error;
  }
}

function answer(jobs: JobTable, { method, path, body }: TransportRequest): Reply {
  const url = new URL(path, "http://test");
  const parts = url.pathname.split("/").slice(2).map(decodeURIComponent);
  const [noun, id = "", verb] = parts;
  const asked = (body === undefined ? {} : readExact("body", body, true)) as Record<
    string,
    never
  > & { jobs?: never[] };
  const ok = (value: unknown): Reply => ({ status: 200, value });
  const named = parts.length > 1 ? `${noun}/_` : noun;
  switch (`${method} ${verb === undefined ? named : `${named}/${verb}`}`) {
    case "POST jobs": {
      const { status, job } = create(jobs, asked as never);
      return { status, value: job };
    }
    case "POST jobs/_":
      return id === "batch" ? ok({ results: batch(jobs, asked.jobs ?? []) }) : refuse(method, path);
    case "GET jobs":
      return ok({ data: list(jobs, url.searchParams), next_cursor: null, partial: false });
    case "GET jobs/_": {
      const { job, checkpoints, attempts } = jobs.find(id);
      return ok({ ...job, checkpoints, attempts, attempts_total: attempts.length });
    }
    case "DELETE jobs/_":
      jobs.delete(id);
      return { status: 204 };
    case "POST jobs/_/cancel":
      return ok(jobs.cancel(id));
    case "POST jobs/_/run-now":
      return ok(jobs.runNow(id));
    case "POST jobs/_/retry":
      return ok(jobs.retry(id, asked as object));
    case "POST jobs/_/run-as-new":
      return { status: 201, value: jobs.runAsNew(id, asked.payload) };
    case "DELETE jobs/_/idempotency-key":
      jobs.forgetKey(id);
      return { status: 204 };
    case "GET keys": {
      const { searchParams } = url;
      return ok(jobs.keyHolder(searchParams.get("task") ?? "", searchParams.get("key") ?? ""));
    }
    case "GET queues":
      return ok({ data: jobs.queues() });
    case "GET queues/_": {
      const queue = jobs.queues().find(({ name }) => name === id);
      if (queue === undefined) {
        throw new Refused(404, "queue_not_found", "there is no such queue");
      }
      return ok(queue);
    }
    default:
      return refuse(method, path);
  }
}

function refuse(method: string, path: string): never {
  const detail =
    `TestHalyard has no ${method} ${path}; a test that needs it starts the server ` +
    "(startServer of @halyard/node/testing)";
  throw new Refused(405, "method_not_allowed", detail);
}

function batch(jobs: JobTable, creates: readonly never[]) {
  return creates.map((one) => {
    try {
      return create(jobs, one);
    } catch (error) {
      if (error instanceof Refused) {
        return { status: error.refusal.status, error: error.refusal };
      }
      throw error;
    }
  });
}

/** The jobs that match, all on one page. */
function list(jobs: JobTable, query: URLSearchParams): WireJob[] {
  const states = query.getAll("state").flatMap((states) => states.split(","));
  const tag = query.get("tag");
  const is = (name: string, got: string | null) => {
    const wanted = query.get(name);
    return wanted === null || wanted === got;
  };
  const time = (name: string, otherwise: number) => Date.parse(query.get(name) ?? "") || otherwise;
  const found = jobs.all
    .map(({ job }) => job)
    .filter(
      (job) =>
        (states.length === 0 || states.includes(job.state)) &&
        is("queue", job.queue) &&
        is("task", job.task) &&
        is("idempotency_key", job.idempotency_key) &&
        (tag === null || job.tags.includes(tag)) &&
        Date.parse(job.created_at) > time("created_after", Number.NEGATIVE_INFINITY) &&
        Date.parse(job.created_at) < time("created_before", Number.POSITIVE_INFINITY),
    );
  return query.get("order") === "asc" ? found : found.reverse();
}
