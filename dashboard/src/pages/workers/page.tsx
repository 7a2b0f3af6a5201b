/** Workers that this server has heard of lately. */
import { type Worker, workers } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty, Shown } from "../../parts/shown.tsx";
import { Ago } from "../../parts/time.tsx";

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
            <Table data={data} />
          )
        }
      </Shown>
    </>
  );
}

function Table({ data }: { data: Worker[] }) {
  return (
    <section class="scroll" aria-label="Workers" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">Queues</th>
            <th scope="col">Tasks</th>
            <th scope="col" class="number">
              Running
            </th>
            <th scope="col">Heard of</th>
            <th scope="col">Since</th>
            <th scope="col">SDK</th>
          </tr>
        </thead>
        <tbody>
          {data.map((worker) => (
            <tr key={worker.id}>
              <th scope="row">
                {worker.name ?? worker.id}
                {worker.name !== null && <span class="quiet under">{worker.id}</span>}
                {worker.draining && <span class="tag">draining</span>}
              </th>
              <td>{worker.queues.join(", ")}</td>
              <td>{worker.tasks?.join(", ") ?? <span class="quiet">any</span>}</td>
              <td class="number">{worker.running}</td>
              <td>
                <Ago at={worker.last_seen_at} />
              </td>
              <td>
                <Ago at={worker.first_seen_at} />
              </td>
              <td class="quiet">{worker.sdk ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
