/** Jobs, newest first: filters in the address, pages by place and not by number, bulk actions. */

import type { ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

import { type JobSummary, list, type Action as Name } from "../../api/calls.ts";
import { forbidden } from "../../live/access.ts";
import { useKeys } from "../../live/keyboard.ts";
import { useResource } from "../../live/resource.ts";
import { Shown } from "../../parts/shown.tsx";
import { type Filters, fromQuery, jobPath, jobsPath, toQuery } from "../../url/query.ts";
import { BulkDialog } from "./bulk.tsx";
import { Chosen } from "./chosen.tsx";
import { counts } from "./counts.ts";
import { Bar, Tabs } from "./filters.tsx";
import { None } from "./none.tsx";
import { settled, toggled } from "./rows.ts";
import { useSelection } from "./selection.ts";
import { JobsTable } from "./table.tsx";

const PAGE = 50;

export function JobsPage() {
  const { url, route } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  const filters = fromQuery(query);
  const { queue, task, tag, key } = filters;
  const numbers = useResource([queue, task, tag, key].join("\n"), () => counts(filters));
  const change = (to: Partial<Filters>) => route(jobsPath({ ...filters, ...to }));
  return (
    <>
      <h1>Jobs</h1>
      <Tabs filters={filters} counts={numbers.data} />
      <Bar key={`bar ${url}`} filters={filters} onChange={change} />
      <List key={`list ${url}`} filters={filters} cursor={query.get("cursor") ?? ""} />
    </>
  );
}

function List({ filters, cursor }: { filters: Filters; cursor: string }) {
  const { route } = useLocation();
  const query = toQuery(filters);
  query.set("limit", String(PAGE));
  if (cursor) query.set("cursor", cursor);
  const page = useResource(query.toString(), () => list(query));
  const [shown, setShown] = useState<JobSummary[]>();
  const [current, setCurrent] = useState(-1);
  const [asked, setAsked] = useState<Name>();
  const more = page.data?.next_cursor ?? undefined;
  const { rows, fresh } = settled(shown, page.data?.data, more !== undefined, filters.order);
  // Rows change in their places; new ones wait until they are asked for.
  useEffect(() => setShown(rows), [page.data]);
  const { selected, chosen, told, select, selectAll, end } = useSelection(rows, filters);

  const move = (by: number) => setCurrent(Math.min(rows.length - 1, Math.max(0, current + by)));
  const here = rows[current];
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => here && route(jobPath(here.id)),
    x: () => here && select(toggled(selected, [here.id], !selected.has(here.id))),
    r: () =>
      chosen.jobs.length > 0
        ? !forbidden("bulk") && setAsked("retry")
        : here && route(jobPath(here.id)),
  });
  const isWhole = rows.length > 0 && rows.every((job) => selected.has(job.id));
  const hasOthers = more !== undefined || cursor !== "";
  return (
    <Shown of={page}>
      {({ partial }) => (
        <>
          {told && (
            <p role={told.failed ? "alert" : "status"} class={told.failed ? "problem" : "told"}>
              {told.text}
            </p>
          )}
          <Chosen
            chosen={chosen}
            onAsk={setAsked}
            onAll={isWhole && hasOthers && !chosen.isAll ? selectAll : undefined}
            onNone={() => select(new Set())}
          />
          {fresh > 0 && (
            <button type="button" class="pill" onClick={() => setShown(page.data?.data)}>
              {fresh < PAGE ? fresh : `${PAGE} or more`} new
            </button>
          )}
          <Rows {...{ rows, current, selected, partial, filters }} onSelect={select} />
          <Pages more={more} first={cursor === ""} filters={filters} />
          {asked && (
            <BulkDialog
              action={asked}
              chosen={chosen}
              filters={filters}
              onDone={(text) => {
                end(text);
                page.reload();
              }}
              onClose={() => setAsked(undefined)}
            />
          )}
        </>
      )}
    </Shown>
  );
}

/** The rows, or that there are none; and whether the search stopped before it had seen all. */
function Rows(props: ComponentProps<typeof JobsTable> & ComponentProps<typeof None>) {
  const { partial, filters, ...table } = props;
  return (
    <>
      {table.rows.length > 0 ? (
        <JobsTable {...table} />
      ) : (
        <None filters={filters} partial={partial} />
      )}
      {partial && (
        <p class="quiet">
          The search stopped after 10,000 jobs. What is older is on the next page, or found by a
          narrower filter.
        </p>
      )}
    </>
  );
}

function Pages(props: { more: string | undefined; first: boolean; filters: Filters }) {
  const next = toQuery(props.filters);
  if (props.more) next.set("cursor", props.more);
  return (
    <nav class="pages" aria-label="Pages of the list">
      {!props.first && <a href={jobsPath(props.filters)}>To the first</a>}
      {props.more && <a href={`/jobs?${next}`}>Further jobs</a>}
    </nav>
  );
}
