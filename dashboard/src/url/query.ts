/** The filters of the list of jobs, as the address has them: a link shows what its sender saw. */
import { STATES, type State } from "../api/calls.ts";
import { visible } from "../parts/visible.ts";

export interface Filters {
  states: State[];
  queue: string;
  task: string;
  tag: string;
  key: string;
  order: "asc" | "desc";
}

const TEXTS = { queue: "queue", task: "task", tag: "tag", key: "idempotency_key" } as const;

/** Reads them; what makes no sense is left out. */
export function fromQuery(query: URLSearchParams): Filters {
  const states = (query.get("state") ?? "").split(",");
  return {
    states: STATES.filter((state) => states.includes(state)),
    queue: query.get("queue") ?? "",
    task: query.get("task") ?? "",
    tag: query.get("tag") ?? "",
    key: query.get("idempotency_key") ?? "",
    order: query.get("order") === "asc" ? "asc" : "desc",
  };
}

/** The members of the address, which are those of `GET /v1/jobs` too. */
export function toQuery(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  if (filters.states.length > 0) query.set("state", filters.states.join(","));
  for (const [member, name] of Object.entries(TEXTS) as [keyof typeof TEXTS, string][]) {
    if (filters[member] !== "") query.set(name, filters[member]);
  }
  if (filters.order === "asc") query.set("order", "asc");
  return query;
}

/** The filters in words, for a dialog that acts on what they show. */
export function inWords(filters: Filters): string {
  const parts = [
    filters.states.length > 0 ? `that are ${filters.states.join(" or ")}` : "in any state",
    filters.queue && `in the queue ${filters.queue}`,
    filters.task && `of the task ${filters.task}`,
    filters.tag && `tagged ${filters.tag}`,
    filters.key && `with the key ${filters.key}`,
  ];
  return visible(parts.filter(Boolean).join(", "));
}

export const jobsPath = (filters: Partial<Filters>): string => {
  const query = toQuery({ ...fromQuery(new URLSearchParams()), ...filters });
  return query.size > 0 ? `/jobs?${query}` : "/jobs";
};

export const jobPath = (id: string): string => `/jobs/${encodeURIComponent(id)}`;
