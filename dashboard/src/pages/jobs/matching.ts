/** Every job that the filters find, and not only those of one page. */
import { type JobSummary, list } from "../../api/calls.ts";
import { type Filters, toQuery } from "../../url/query.ts";

/** One call acts on this many at most. */
export const BULK_MAX = 1_000;
/** The longest page that the server gives. */
const PAGE_MAX = 200;

/** Those that come first in their order; `isAll` if there are no others. */
export async function matching(
  filters: Filters,
  load: typeof list = list,
): Promise<{ jobs: JobSummary[]; isAll: boolean }> {
  const query = toQuery(filters);
  query.set("limit", String(PAGE_MAX));
  const jobs: JobSummary[] = [];
  while (jobs.length < BULK_MAX) {
    const page = await load(query);
    jobs.push(...page.data);
    if (page.next_cursor === null) return { jobs, isAll: true };
    query.set("cursor", page.next_cursor);
  }
  return { jobs: jobs.slice(0, BULK_MAX), isAll: false };
}
