/** Rows of jobs. */
import { useEffect, useRef } from "preact/hooks";

import type { JobSummary } from "../../api/calls.ts";
import { State } from "../../parts/state.tsx";
import { type Column, numbers, Table } from "../../parts/table.tsx";
import { Ago, Took } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { jobPath } from "../../url/query.ts";
import { toggled } from "./rows.ts";

/** Of an error this much may be seen in its row, in characters. */
const ERROR_SHOWN = 300;

interface Props {
  rows: JobSummary[];
  /** The row that keys act on. */
  current: number;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
}

export function JobsTable({ rows, current, selected, onSelect }: Props) {
  const anchor = useRef(0);
  const ids = rows.map((job) => job.id);
  const all = ids.every((id) => selected.has(id));
  const select = (index: number, on: boolean, range: boolean) => {
    const [from, to] = range ? [anchor.current, index].sort((a, b) => a - b) : [index, index];
    anchor.current = index;
    onSelect(toggled(selected, ids.slice(from, (to ?? index) + 1), on));
  };
  return (
    <Table label="Jobs" columns={columns(all, () => onSelect(toggled(selected, ids, !all)))}>
      {rows.map((job, index) => (
        <Row
          key={job.id}
          job={job}
          isCurrent={index === current}
          isSelected={selected.has(job.id)}
          onSelect={(on, range) => select(index, on, range)}
        />
      ))}
    </Table>
  );
}

const columns = (all: boolean, onAll: () => void): Column[] => [
  {
    name: "Select",
    head: (
      <input type="checkbox" aria-label="Select all of this page" checked={all} onChange={onAll} />
    ),
  },
  ...["State", "Task", "Job", "Queue"],
  numbers("Attempt"),
  ...["Key", "Created", "Took", "Error"],
];

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
      <td class="cut" title={visible(job.idempotency_key ?? "")}>
        {job.idempotency_key === null ? <span class="quiet">–</span> : visible(job.idempotency_key)}
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
      <td class="cut error" title={job.error ? visible(job.error.message) : undefined}>
        {job.error && visible(`${job.error.type}: ${job.error.message}`.slice(0, ERROR_SHOWN))}
      </td>
    </tr>
  );
}
