/** Rows of jobs. */
import { useEffect, useRef } from "preact/hooks";

import type { JobSummary } from "../../api/calls.ts";
import { State } from "../../parts/state.tsx";
import { Ago, Took } from "../../parts/time.tsx";
import { jobPath } from "../../url/query.ts";
import { toggled } from "./rows.ts";

interface Props {
  rows: JobSummary[];
  /** The row that keys act on. */
  current: number;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
}

export function Table({ rows, current, selected, onSelect }: Props) {
  const anchor = useRef(0);
  const all = rows.every((job) => selected.has(job.id));
  const select = (index: number, on: boolean, range: boolean) => {
    const [from, to] = range ? [anchor.current, index].sort((a, b) => a - b) : [index, index];
    anchor.current = index;
    onSelect(
      toggled(
        selected,
        rows.slice(from, (to ?? index) + 1).map((job) => job.id),
        on,
      ),
    );
  };
  return (
    <div class="scroll">
      <table class="jobs">
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Select all of this page"
                checked={all}
                onChange={() =>
                  onSelect(
                    toggled(
                      selected,
                      rows.map((job) => job.id),
                      !all,
                    ),
                  )
                }
              />
            </th>
            <th scope="col">State</th>
            <th scope="col">Task</th>
            <th scope="col">Job</th>
            <th scope="col">Queue</th>
            <th scope="col" class="number">
              Attempt
            </th>
            <th scope="col">Key</th>
            <th scope="col">Created</th>
            <th scope="col">Took</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((job, index) => (
            <Row
              key={job.id}
              job={job}
              isCurrent={index === current}
              isSelected={selected.has(job.id)}
              onSelect={(on, range) => select(index, on, range)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row(props: {
  job: JobSummary;
  isCurrent: boolean;
  isSelected: boolean;
  onSelect: (on: boolean, range: boolean) => void;
}) {
  const { job, isCurrent, isSelected } = props;
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  return (
    <tr ref={row} class={isCurrent ? "current" : undefined} aria-current={isCurrent || undefined}>
      <td>
        <input
          type="checkbox"
          aria-label={`Select ${job.id}`}
          checked={isSelected}
          onClick={(event) => props.onSelect(!isSelected, event.shiftKey)}
        />
      </td>
      <td>
        <State name={job.state} />
      </td>
      <td class="cut">{job.task}</td>
      <td class="cut id">
        <a href={jobPath(job.id)} title={job.id}>
          …{job.id.slice(-10)}
        </a>
      </td>
      <td class="cut">{job.queue}</td>
      <td class="number">
        {job.attempt}/{job.max_attempts}
      </td>
      <td class="cut" title={job.idempotency_key ?? undefined}>
        {job.idempotency_key ?? <span class="quiet">–</span>}
      </td>
      <td class="time">
        <Ago at={job.created_at} />
      </td>
      <td class="time">
        {job.state === "running" || job.finished_at ? (
          <Took from={job.started_at} to={job.finished_at} />
        ) : (
          <span class="quiet">–</span>
        )}
      </td>
      <td class="cut error" title={job.error?.message}>
        {job.error ? `${job.error.type}: ${job.error.message}` : ""}
      </td>
    </tr>
  );
}
