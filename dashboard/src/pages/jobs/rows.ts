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
 * behind those that were loaded, so what newer ones pushed off the page is still there.
 */
export function settled(
  shown: JobSummary[] | undefined,
  loaded: JobSummary[] | undefined,
  isFull: boolean,
): { rows: JobSummary[]; fresh: number } {
  if (!shown || shown.length === 0) return { rows: loaded ?? [], fresh: 0 };
  if (!loaded) return { rows: shown, fresh: 0 };
  const known = new Set(shown.map((job) => job.id));
  const first = loaded.findIndex((job) => known.has(job.id));
  if (first < 0) return isFull ? { rows: shown, fresh: loaded.length } : { rows: loaded, fresh: 0 };
  const here = loaded.slice(first);
  const now = new Set(here.map((job) => job.id));
  const last = shown.findLastIndex((job) => now.has(job.id));
  const pushed = isFull ? shown.slice(last + 1) : [];
  return { rows: [...here, ...pushed], fresh: first };
}
