/** What somebody should look at. */
import type { Queue, Task } from "../../api/calls.ts";
import { jobsPath } from "../../url/query.ts";

export interface Note {
  /** What it is about, and where to look. */
  about: string;
  path: string;
  text: string;
}

const jobs = (count: number): string => (count === 1 ? "1 job" : `${count} jobs`);
const waiting = (count: number): string => `${jobs(count)} ${count === 1 ? "waits" : "wait"}`;

const unservedBy = (workers: number): string =>
  workers === 0 ? "without workers" : "whose workers are silent";

/** Failing tasks first, then what nobody works on. Of some queues all workers are silent. */
export function attention(
  queues: readonly Queue[],
  tasks: readonly Task[],
  silent: ReadonlySet<string>,
): Note[] {
  const failing = tasks
    .filter(({ counts }) => counts.failed > 0)
    .sort((one, other) => other.counts.failed - one.counts.failed)
    .map(({ name, counts }) => ({
      about: name,
      path: jobsPath({ task: name, states: ["failed"] }),
      text: `has ${jobs(counts.failed)} failed`,
    }));
  const unserved = queues
    .filter(({ counts, paused }) => !paused && counts.queued > 0)
    .filter(({ name, workers }) => workers === 0 || silent.has(name))
    .map(({ name, counts, workers }) => ({
      about: name,
      path: "/queues",
      text: `is a queue ${unservedBy(workers)}; ${waiting(counts.queued)}`,
    }));
  const paused = queues
    .filter((queue) => queue.paused && queue.counts.queued > 0)
    .map(({ name, counts }) => ({
      about: name,
      path: "/queues",
      text: `is paused; ${waiting(counts.queued)}`,
    }));
  const served = new Set(queues.filter((queue) => queue.workers > 0).map(({ name }) => name));
  const unhandled = tasks
    .filter((task) => task.workers === 0 && task.counts.queued > 0)
    .filter((task) => task.queues.some((queue) => served.has(queue)))
    .map(({ name, counts }) => ({
      about: name,
      path: jobsPath({ task: name, states: ["queued"] }),
      text: `is a task that no worker handles; ${waiting(counts.queued)}`,
    }));
  return [...failing, ...unserved, ...paused, ...unhandled];
}
