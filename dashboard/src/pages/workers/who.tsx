/** Who takes the jobs of a queue or of a task, where only that is told of workers. */
import type { Queue, Task, Worker } from "../../api/calls.ts";
import { number } from "../../parts/shown.tsx";
import { now } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { silence } from "./silence.ts";

const isSilent = (worker: Worker): boolean => silence(worker, now.value) !== undefined;

export const nameOf = ({ id, name }: Pick<Worker, "id" | "name">): string =>
  name === null ? id : visible(name);

export const serving = (queue: string, workers: readonly Worker[]): Worker[] =>
  workers.filter(({ queues }) => queues.includes(queue));

/** A worker takes jobs of the tasks that it names, or of all, from the queues that it names. */
export const handling = ({ name, queues }: Task, workers: readonly Worker[]): Worker[] =>
  workers
    .filter(({ tasks }) => tasks === null || tasks.includes(name))
    .filter((worker) => queues.some((queue) => worker.queues.includes(queue)));

/** Queues that have workers, of which none called lately. */
export const silentQueues = (workers: readonly Worker[], nowMs: number): Set<string> => {
  const called = workers.filter((worker) => silence(worker, nowMs) === undefined);
  const heard = new Set(called.flatMap(({ queues }) => queues));
  return new Set(workers.flatMap(({ queues }) => queues).filter((queue) => !heard.has(queue)));
};

/** The cell of a queue: how many workers it has, and how many of them are silent. */
export function Serving({ queue, workers }: { queue: Queue; workers: readonly Worker[] }) {
  const all = serving(queue.name, workers);
  const silent = all.filter(isSilent).length;
  const unserved = silent === all.length && queue.counts.queued > 0;
  return (
    <td class={unserved || silent > 0 ? "number warn" : "number"}>
      {(unserved || silent > 0) && <span aria-hidden="true">⚠ </span>}
      {number(all.length)}
      {silent > 0 && <span class="under">{number(silent)} silent</span>}
    </td>
  );
}

/** Workers of a task that are named. */
const NAMED = 3;

/** The cell of a task: its workers by name, or that it has none though jobs wait. */
export function Handling({ task, workers }: { task: Task; workers: readonly Worker[] }) {
  const all = handling(task, workers);
  const { queued, retrying, scheduled } = task.counts;
  if (all.length === 0) {
    const unhandled = queued + retrying + scheduled > 0;
    return (
      <td class={unhandled ? "warn" : "quiet"}>
        {unhandled && <span aria-hidden="true">⚠ </span>}nobody
      </td>
    );
  }
  return (
    <td>
      {all.slice(0, NAMED).map((worker) => (
        <span key={worker.id} class={isSilent(worker) ? "under warn" : "under"} title={worker.id}>
          {isSilent(worker) && <span aria-hidden="true">⚠ </span>}
          {nameOf(worker)}
          {isSilent(worker) && ", silent"}
        </span>
      ))}
      {all.length > NAMED && <a href="/workers">and {number(all.length - NAMED)} more</a>}
    </td>
  );
}
