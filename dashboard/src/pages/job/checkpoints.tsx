/** Checkpoints, in the order in which they were first written. */
import type { Job } from "../../api/calls.ts";
import { member, print, read } from "../../parts/json/exact.ts";
import { numbers, Table } from "../../parts/table.tsx";
import { At } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { isUnknown, resumed } from "./history.ts";

const COLUMNS = ["Name", "Value", numbers("Life"), numbers("Attempt"), "Written"];

/** Of a value this much may be seen in its row, in characters. */
const VALUE_SHOWN = 300;

export function Checkpoints({ job, source }: { job: Job; source: string }) {
  if (job.checkpoints.length === 0) return null;
  const values = read(member(source, "checkpoints") ?? "[]");
  const lost = job.attempts.find(isUnknown);
  return (
    <section class="card">
      <h2>Checkpoints</h2>
      <Table label="Checkpoints" columns={COLUMNS}>
        {job.checkpoints.map((checkpoint, index) => (
          <tr key={checkpoint.name}>
            <th scope="row" class="text">
              {visible(checkpoint.name)}
            </th>
            <td class="cut wide id">{visible(valueText(values, index).slice(0, VALUE_SHOWN))}</td>
            <td class="number">{checkpoint.life}</td>
            <td class="number">{checkpoint.attempt}</td>
            <td>
              <At at={checkpoint.created_at} />
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

/** The value as it stands in the answer: long numbers stay whole. */
function valueText(all: ReturnType<typeof read>, index: number): string {
  const one = all.kind === "array" ? all.entries[index] : undefined;
  const value = one?.kind === "object" && one.entries.find(([name]) => name === "value")?.[1];
  return value ? print(value).replaceAll(/\s*\n\s*/g, " ") : "null";
}
