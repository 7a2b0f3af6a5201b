/** Checkpoints, in the order in which they were first written. */
import { useMemo, useState } from "preact/hooks";

import type { Job } from "../../api/calls.ts";
import { entries, member } from "../../parts/json/exact.ts";
import { Json } from "../../parts/json/view.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { At } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { isUnknown, resumed } from "./history.ts";

const COLUMNS = ["Name", "Value", numbers("Life"), numbers("Attempt"), "Written"];

/** Of a value this much is seen in its row before it is unfolded, in characters. */
const VALUE_SHOWN = 60;

export function Checkpoints({ job, source }: { job: Job; source: string }) {
  const values = useMemo(() => {
    const written = entries(member(source, "checkpoints") ?? "[]");
    return written.map((it) => member(it, "value") ?? "null");
  }, [source]);
  if (job.checkpoints.length === 0) return null;
  const lost = job.attempts.find(isUnknown);
  return (
    <section class="card">
      <h2>Checkpoints</h2>
      <Table label="Checkpoints" columns={COLUMNS}>
        {job.checkpoints.map(({ name, life, attempt, created_at }, index) => (
          <tr key={name}>
            <th scope="row" class="text">
              {visible(name)}
            </th>
            <td class="wide id">
              <Value
                source={values[index] ?? "null"}
                of={name}
                file={`${job.id}-checkpoint-${index + 1}`}
              />
            </td>
            <td class="number">{life}</td>
            <td class="number">{attempt}</td>
            <td>
              <At at={created_at} />
            </td>
          </tr>
        ))}
      </Table>
      {resumed(job).map(({ start, after }) => (
        <p key={start}>
          Start {start} resumed after <span class="id">{visible(after)}</span>.
        </p>
      ))}
      {lost && (
        <p class="warn">
          <span aria-hidden="true">⚠</span> Start {lost.start} ended without a report. What it did
          after the last checkpoint before its end may have happened, or not.
        </p>
      )}
    </section>
  );
}

/** A value as it stands in the answer: long numbers stay whole. What is long is unfolded when asked. */
function Value({ source, of, file }: { source: string; of: string; file: string }) {
  const [isOpen, setOpen] = useState(false);
  if (source.length <= VALUE_SHOWN) return <>{visible(source)}</>;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{visible(source.slice(0, VALUE_SHOWN))}…</summary>
      {isOpen && <Json source={source} label={`value of ${visible(of)}`} file={file} />}
    </details>
  );
}
