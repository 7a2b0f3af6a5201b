/** One function for each call that the pages make. */
import { json, SESSION, type Shapes, text } from "./client.ts";

export type State = Shapes["State"];
export type Job = Shapes["JobDetail"];
export type JobSummary = Shapes["JobSummary"];
export type Attempt = Shapes["Attempt"];
export type Checkpoint = Shapes["Checkpoint"];
export type Queue = Shapes["Queue"];
export type Stats = Shapes["Stats"];
export type Task = Shapes["Task"];
export type Worker = Shapes["Worker"];
export type Role = Shapes["Role"];
export type Session = Shapes["Session"];
export type ApiKey = Shapes["ApiKey"];
export type CreatedApiKey = Shapes["CreatedApiKey"];
export type AuditEntry = Shapes["AuditEntry"];
export type Action = "retry" | "cancel" | "delete" | "run_now";

export const STATES: readonly State[] = [
  "scheduled",
  "queued",
  "running",
  "retrying",
  "completed",
  "failed",
  "cancelled",
];

const job = (id: string, action = "") => `/v1/jobs/${encodeURIComponent(id)}${action}`;
const queue = (name: string, action: string) => `/v1/queues/${encodeURIComponent(name)}/${action}`;

export const currentSession = () => json<Session>("GET", SESSION);
export const startSession = (key: string) => json<void>("POST", SESSION, { body: { key } });
export const endSession = () => json<void>("DELETE", SESSION);

export const apiKeys = () => json<Shapes["ApiKeysAnswer"]>("GET", "/v1/api-keys");
export const createApiKey = (name: string, role: Role) =>
  json<Shapes["CreatedApiKey"]>("POST", "/v1/api-keys", { body: { name, role } });
export const revokeApiKey = (id: string) =>
  json<void>("DELETE", `/v1/api-keys/${encodeURIComponent(id)}`);
export const audit = (query: URLSearchParams) =>
  json<Shapes["AuditAnswer"]>("GET", `/v1/audit?${query}`);

export const stats = () => json<Stats>("GET", "/v1/stats");
export const queues = () => json<{ data: Queue[] }>("GET", "/v1/queues");
export const workers = () => json<{ data: Worker[] }>("GET", "/v1/workers");
export const tasks = () => json<{ data: Task[] }>("GET", "/v1/tasks");
export const pause = (name: string) => json<Queue>("POST", queue(name, "pause"));
export const resume = (name: string) => json<Queue>("POST", queue(name, "resume"));

export const list = (query: URLSearchParams) =>
  json<Shapes["ListAnswer"]>("GET", `/v1/jobs?${query}`);

/** A job, and the text that it came as: numbers in it may be longer than JavaScript's. */
export async function get(id: string): Promise<{ job: Job; source: string }> {
  const source = await text("GET", job(id));
  return { job: JSON.parse(source) as Job, source };
}

export const holder = (task: string, key: string) =>
  json<Shapes["KeyHolder"]>("GET", `/v1/keys?${new URLSearchParams({ task, key })}`);
export const forgetKey = (id: string) => json<void>("DELETE", job(id, "/idempotency-key"));

export const retry = (id: string, body: Shapes["Retry"]) =>
  json<Shapes["RetriedJob"]>("POST", job(id, "/retry"), { body });
export const cancel = (id: string) => json<void>("POST", job(id, "/cancel"));
export const runNow = (id: string) => json<void>("POST", job(id, "/run-now"));
export const remove = (id: string) => json<void>("DELETE", job(id));
export const runAsNew = (id: string, requestKey: string) =>
  json<Shapes["CreatedJob"]>("POST", job(id, "/run-as-new"), { body: {}, requestKey });

/** At most 1,000 jobs, and by which filter they were chosen; each is answered for by itself. */
export const bulk = (
  action: Action,
  jobs: readonly Pick<JobSummary, "id" | "life">[],
  requestKey: string,
  filter?: string,
) =>
  json<Shapes["BulkAnswer"]>("POST", "/v1/jobs/bulk", {
    body: {
      action,
      ids: jobs.map((it) => it.id),
      ...(action === "retry" && { lives: Object.fromEntries(jobs.map((it) => [it.id, it.life])) }),
      ...(filter !== undefined && { filter }),
    },
    requestKey,
  });
