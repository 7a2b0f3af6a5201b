/** Which rows are shown, and which are selected. */
import type { JobSummary } from "../../api/calls.ts";

/** Selects or leaves these. */
export function toggled(
  selected: ReadonlySet<string>,
  ids: readonly string[],
  on: boolean,
): ReadonlySet<string> {
  const next = new Set(selected);
  for (const id of ids) {
    if (on) next.add(id);
    else next.delete(id);
  }
  return next;
}

/**
 * What stays in its place, as it is now, and how many rows are new. `isFull`: further rows lie
 * behind those that were loaded, so what newer ones pushed off the page is still there. What is
 * missing from among those that were loaded is no longer of this list.
 */
export function settled(
  shown: JobSummary[] | undefined,
  loaded: JobSummary[] | undefined,
  isFull: boolean,
  order: "asc" | "desc" = "desc",
): { rows: JobSummary[]; fresh: number } {
  const [top] = shown ?? [];
  if (!shown || !top) return { rows: loaded ?? [], fresh: 0 };
  if (!loaded) return { rows: shown, fresh: 0 };
  const isBefore = (one: JobSummary, other: JobSummary) =>
    order === "desc" ? isOlder(other, one) : isOlder(one, other);
  const known = new Set(shown.map((job) => job.id));
  const first = loaded.findIndex((job) => known.has(job.id) || !isBefore(job, top));
  if (first < 0) return isFull ? { rows: shown, fresh: loaded.length } : { rows: loaded, fresh: 0 };
  const last = loaded.at(-1);
  const pushed = isFull && last ? shown.filter((job) => isBefore(last, job)) : [];
  return { rows: [...loaded.slice(first), ...pushed], fresh: first };
}

/** Ids grow with time, also within a millisecond. */
function isOlder(one: JobSummary, other: JobSummary): boolean {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at;
  return one.id < other.id;
}
