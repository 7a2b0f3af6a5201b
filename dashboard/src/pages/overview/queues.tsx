/** The queues where most waits, with how long. All of them are on a page of their own. */
import type { Queue, Worker } from "../../api/calls.ts";
import { number } from "../../parts/shown.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { jobsPath } from "../../url/query.ts";
import { Serving } from "../workers/who.tsx";

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

interface Props {
  queues: readonly Queue[];
  workers: readonly Worker[];
}

export function Queues({ queues, workers }: Props) {
  const shown = busiest(queues);
  return (
    <section class="card">
      <h2>Queues</h2>
      <Table label="Queues where most waits" columns={COLUMNS}>
        {shown.map((queue) => (
          <tr key={queue.name}>
            <th scope="row" class="cut">
              <a href={jobsPath({ queue: queue.name })} title={queue.name}>
                {queue.name}
              </a>{" "}
              {queue.paused && <span class="tag">Ⅱ paused</span>}
            </th>
            <td class="number">{number(queue.counts.queued)}</td>
            <td class="time">
              <Ago at={queue.oldest_queued_at} />
            </td>
            <td class="number">{number(queue.counts.running)}</td>
            <Serving queue={queue} workers={workers} />
          </tr>
        ))}
      </Table>
      <a href="/queues">
        {queues.length > SHOWN ? `All ${number(queues.length)} queues` : "All queues"}
      </a>
    </section>
  );
}
