/** Every job that the filters find, part by part, and not only those of one page. */
import { type JobSummary, list } from "../../api/calls.ts";
import { type Filters, toQuery } from "../../url/query.ts";

/** One call acts on this many at most. */
export const BULK_MAX = 1_000;
/** The longest page that the server gives. */
const PAGE_MAX = 200;

export interface Part {
  jobs: JobSummary[];
  /** Where the next part begins; null after the last. */
  next: string | null;
}

/**
 * As many as one call acts on, or fewer where they lie far apart. The newest come first, whatever
 * the order of the list: a job that is created later lies before the first part, thus in none.
 */
export async function part(
  filters: Filters,
  next: string | null,
  load: typeof list = list,
): Promise<Part> {
  const query = toQuery({ ...filters, order: "desc" });
  query.set("limit", String(PAGE_MAX));
  const found: Part = { jobs: [], next };
  for (let page = 0; page < BULK_MAX / PAGE_MAX; page += 1) {
    if (found.next !== null) query.set("cursor", found.next);
    const { data, next_cursor } = await load(query);
    found.jobs.push(...data);
    found.next = next_cursor;
    if (next_cursor === null) break;
  }
  return found;
}
