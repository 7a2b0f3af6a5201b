/** Which jobs are selected, of the page or of all that match; what came of the last action. */
import { useState } from "preact/hooks";

import type { JobSummary } from "../../api/calls.ts";
import type { Filters } from "../../url/query.ts";
import { matching } from "./matching.ts";

export interface Selection {
  selected: ReadonlySet<string>;
  /** The selected jobs themselves. */
  chosen: JobSummary[];
  /** Which of all that match they are, where that is not plain to see. */
  which: string | undefined;
  /** What came of the last action, or why not all were selected. */
  told: { text: string; failed?: boolean } | undefined;
  select: (ids: ReadonlySet<string>) => void;
  selectAll: () => void;
  /** Selects none any more, and says what came of those that were. */
  end: (text: string) => void;
}

export function useSelection(rows: readonly JobSummary[], filters: Filters): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState<Awaited<ReturnType<typeof matching>>>();
  const [told, setTold] = useState<Selection["told"]>();
  const reset = (ids: ReadonlySet<string>, next: Selection["told"]) => {
    setSelected(ids);
    setAll(undefined);
    setTold(next);
  };
  return {
    selected,
    chosen: all?.jobs ?? rows.filter((job) => selected.has(job.id)),
    which: all && (all.isAll ? "all that match" : "the first that match"),
    told,
    select: (ids) => reset(ids, undefined),
    selectAll: () =>
      void matching(filters).then(setAll, (error: Error) =>
        setTold({ text: `Not all were selected: ${error.message}`, failed: true }),
      ),
    end: (text) => reset(new Set(), { text }),
  };
}
