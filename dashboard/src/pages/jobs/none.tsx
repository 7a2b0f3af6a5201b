/** That there is no job to show, and why. */
import { stats } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty } from "../../parts/shown.tsx";
import type { Filters } from "../../url/query.ts";

interface Props {
  filters: Filters;
  /** The search stopped before it had seen all. */
  partial: boolean;
}

export function None({ filters, partial }: Props) {
  if (partial) return <Empty>None among the jobs that were looked at.</Empty>;
  const { order: _, ...narrowing } = filters;
  const isNarrowed = Object.values(narrowing).some((it) => it.length > 0);
  return isNarrowed ? <Empty>No job matches these filters.</Empty> : <NoneAtAll />;
}

function NoneAtAll() {
  const { data } = useResource("stats", stats);
  if (data === undefined) return null;
  if (data.totals.created > 0) return <Empty>There is no job any more.</Empty>;
  return (
    <Empty>
      There is no job yet. <a href="/">The first steps</a> make one.
    </Empty>
  );
}
