/** The queues where most waits, with how long. All of them are on a page of their own. */
import type { Queue } from "../../api/calls.ts";
import { number } from "../../parts/shown.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { jobsPath } from "../../url/query.ts";

const SHOWN = 6;
const COLUMNS = ["Queue", numbers("Queued"), "Oldest", numbers("Running"), numbers("Workers")];

/** Those that are shown: first where most is queued, then where most runs. */
export const busiest = (queues: readonly Queue[]): Queue[] =>
  [...queues]
    .sort(
      ({ counts: one }, { counts: other }) =>
        other.queued - one.queued || other.running - one.running,
    )
    .slice(0, SHOWN);

export function Queues({ queues }: { queues: readonly Queue[] }) {
  const shown = busiest(queues);
  return (
    <section class="card">
      <h2>Queues</h2>
      <Table label="Queues where most waits" columns={COLUMNS}>
        {shown.map(({ name, counts, oldest_queued_at, paused, workers }) => (
          <tr key={name}>
            <th scope="row" class="cut">
              <a href={jobsPath({ queue: name })} title={name}>
                {name}
              </a>{" "}
              {paused && <span class="tag">Ⅱ paused</span>}
            </th>
            <td class="number">{number(counts.queued)}</td>
            <td class="time">
              <Ago at={oldest_queued_at} />
            </td>
            <td class="number">{number(counts.running)}</td>
            <td class="number">{workers}</td>
          </tr>
        ))}
      </Table>
      <a href="/queues">
        {queues.length > SHOWN ? `All ${number(queues.length)} queues` : "All queues"}
      </a>
    </section>
  );
}
