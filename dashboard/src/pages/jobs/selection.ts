/** Which jobs are selected, of the page or of all that match; what came of the last action. */
import { useState } from "preact/hooks";

import type { JobSummary } from "../../api/calls.ts";
import { number } from "../../parts/shown.tsx";
import type { Filters } from "../../url/query.ts";
import { count } from "./counts.ts";
import { part } from "./matching.ts";
import type { Target } from "./run.ts";

/** What an action is asked for. */
export interface Chosen {
  /** Those that are known. */
  jobs: readonly Target[];
  /** Where the list has more of them; null if it has none. */
  next: string | null;
  /** How many they are together, where the server keeps count of them. */
  counted: number | undefined;
  /** They are all that match, and not some of them. */
  isAll: boolean;
}

/** How many they are, as exactly as that is known; the server never counts for this. */
export function howMany({ jobs, next, counted = 0 }: Omit<Chosen, "isAll">): string {
  const known = number(jobs.length);
  if (next === null) return known;
  return counted > jobs.length ? `about ${number(counted)}` : `at least ${known}`;
}

export interface Selection {
  selected: ReadonlySet<string>;
  chosen: Chosen;
  /** What came of the last action, or why not all were selected. */
  told: { text: string; failed?: boolean } | undefined;
  select: (ids: ReadonlySet<string>) => void;
  selectAll: () => void;
  /** Selects none any more, and says what came of those that were. */
  end: (text: string) => void;
}

export function useSelection(rows: readonly JobSummary[], filters: Filters): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState<Chosen>();
  const [told, setTold] = useState<Selection["told"]>();
  const reset = (ids: ReadonlySet<string>, next: Selection["told"]) => {
    setSelected(ids);
    setAll(undefined);
    setTold(next);
  };
  const jobs = rows.filter((job) => selected.has(job.id));
  const findAll = async () => {
    const [found, counted] = await Promise.all([part(filters, null), count(filters)]);
    setAll({ ...found, counted, isAll: true });
  };
  return {
    selected,
    chosen: all ?? { jobs, next: null, counted: undefined, isAll: false },
    told,
    select: (ids) => reset(ids, undefined),
    selectAll: () =>
      void findAll().catch((error: Error) =>
        setTold({ text: `Not all were selected: ${error.message}`, failed: true }),
      ),
    end: (text) => reset(new Set(), { text }),
  };
}
