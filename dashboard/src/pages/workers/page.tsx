/** Workers that this server has heard of lately. */
import { type Worker, workers } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty, Shown } from "../../parts/shown.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { Ago, now } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { silence } from "./silence.ts";
import { nameOf } from "./who.tsx";

export function WorkersPage() {
  const all = useResource("workers", workers);
  return (
    <>
      <h1>Workers</h1>
      <Shown of={all}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              No worker calls this server. Start one, and it is here with its first claim: jobs wait
              until then and lose nothing.
            </Empty>
          ) : (
            <Table label="Workers" columns={COLUMNS}>
              {data.map((worker) => (
                <Row key={worker.id} worker={worker} />
              ))}
            </Table>
          )
        }
      </Shown>
    </>
  );
}

const COLUMNS = ["Worker", "Queues", "Tasks", numbers("Running"), "Heard of", "Since", "SDK"];

function Row({ worker }: { worker: Worker }) {
  const silent = silence(worker, now.value);
  return (
    <tr>
      <th scope="row">
        {nameOf(worker)}
        {worker.name !== null && <span class="quiet under">{worker.id}</span>}{" "}
        {worker.draining && <span class="tag">draining</span>}
      </th>
      <td>{worker.queues.join(", ")}</td>
      <td>{worker.tasks?.join(", ") ?? <span class="quiet">any</span>}</td>
      <td class="number">{worker.running}</td>
      <td class={silent ? "warn" : undefined}>
        {silent && <span aria-hidden="true">⚠ </span>}
        <Ago at={worker.last_seen_at} />
        {silent && <span class="under">{silent}</span>}
      </td>
      <td>
        <Ago at={worker.first_seen_at} />
      </td>
      <td class="quiet">{worker.sdk === null ? "–" : visible(worker.sdk)}</td>
    </tr>
  );
}
