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

/** What stays in its place, as it is now, and how many rows are new. */
export function settled(
  shown: JobSummary[] | undefined,
  loaded: JobSummary[] | undefined,
): { rows: JobSummary[]; fresh: number } {
  if (!shown || shown.length === 0) return { rows: loaded ?? [], fresh: 0 };
  const now = new Map(loaded?.map((job) => [job.id, job]));
  const known = new Set(shown.map((job) => job.id));
  const first = loaded?.findIndex((job) => known.has(job.id)) ?? 0;
  // Nothing of what is shown is left: the rows are of another time.
  if (loaded && first < 0) return { rows: loaded, fresh: 0 };
  const rows = loaded
    ? shown.filter((job) => now.has(job.id)).map((job) => now.get(job.id) ?? job)
    : shown;
  const tail = loaded?.slice(first).filter((job) => !known.has(job.id)) ?? [];
  return { rows: [...rows, ...tail], fresh: Math.max(0, first) };
}
