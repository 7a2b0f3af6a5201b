/** Queues: how much waits, how long, who works on it; pause and resume. */
import { useState } from "preact/hooks";

import { pause, type Queue, queues, resume, type Worker, workers } from "../../api/calls.ts";
import { forbidden } from "../../live/access.ts";
import { useResource } from "../../live/resource.ts";
import { Action } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty, number, Shown } from "../../parts/shown.tsx";
import { ACTIONS, numbers, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { jobsPath } from "../../url/query.ts";
import { Serving } from "../workers/who.tsx";

export function QueuesPage() {
  const all = useResource("queues", async () => {
    const [lines, callers] = await Promise.all([queues(), workers()]);
    return { queues: lines.data, workers: callers.data };
  });
  const [asked, setAsked] = useState<Queue>();
  return (
    <>
      <h1>Queues</h1>
      <Shown of={all}>
        {({ queues, workers }) =>
          queues.length === 0 ? (
            <Empty>A queue is here as soon as a job is created in it.</Empty>
          ) : (
            <Table label="Queues" columns={COLUMNS}>
              {queues.map((queue) => (
                <Row key={queue.name} queue={queue} workers={workers} onAsk={setAsked} />
              ))}
            </Table>
          )
        }
      </Shown>
      {asked && (
        <Ask queue={asked} onDone={() => all.reload()} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

const COLUMNS = [
  "Queue",
  numbers("Queued"),
  "Oldest since",
  ...["Running", "Retrying", "Scheduled", "Failed", "Workers"].map(numbers),
  ACTIONS,
];

function Row(props: { queue: Queue; workers: readonly Worker[]; onAsk: (queue: Queue) => void }) {
  const { queue, workers, onAsk } = props;
  const { counts, name, paused } = queue;
  return (
    <tr>
      <th scope="row">
        <a href={jobsPath({ queue: name })}>{name}</a> {paused && <span class="tag">Ⅱ paused</span>}
      </th>
      <td class="number">{number(counts.queued)}</td>
      <td>
        <Ago at={queue.oldest_queued_at} />
      </td>
      <td class="number">{number(counts.running)}</td>
      <td class="number">{number(counts.retrying)}</td>
      <td class="number">{number(counts.scheduled)}</td>
      <td class="number">
        {counts.failed > 0 ? (
          <a href={jobsPath({ queue: name, states: ["failed"] })}>{number(counts.failed)}</a>
        ) : (
          "0"
        )}
      </td>
      <Serving queue={queue} workers={workers} />
      <td class="end">
        <Action
          label={paused ? "Resume" : "Pause"}
          about={name}
          unless={forbidden("pause")}
          kind="small"
          onClick={() => onAsk(queue)}
        />
      </td>
    </tr>
  );
}

function Ask({
  queue,
  onDone,
  onClose,
}: {
  queue: Queue;
  onDone: () => void;
  onClose: () => void;
}) {
  const { name, paused } = queue;
  return (
    <Dialog
      title={paused ? `Resume ${name}?` : `Pause ${name}?`}
      action={paused ? "Resume" : "Pause"}
      act={async () => {
        await (paused ? resume(name) : pause(name));
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        {paused
          ? `Workers get its ${number(queue.counts.queued)} queued jobs again at once.`
          : "Workers get no new jobs of it. What runs goes on, and jobs are still created."}
      </p>
    </Dialog>
  );
}
