/**
 * SIGTERM and SIGINT: the first one stops all workers of the process, the second one ends it.
 *
 * Once the workers have ended, a program that listens to the signal itself goes its own way. Any
 * other would have been ended by the signal, had no worker listened: it has a moment to end by
 * itself, and is ended then.
 *
 * With jobs at work the first signal is answered with a line on the standard error, and the end
 * with how many of them were given back: nobody should take the wait for a program that hangs.
 */

/** What a shell reports for a process that a signal ended: 128 and the signal's number. */
const CODES = { SIGTERM: 143, SIGINT: 130 } as const;
/** How long a program may go on after its workers have ended. */
const EXIT_GRACE_MS = 2_000;

type Signal = keyof typeof CODES;

/** A worker that runs. */
interface Stoppable {
  stop(): Promise<void>;
}

/** How far it is. */
interface Progress {
  /** Handlers that run. */
  readonly running: number;
  /** Jobs that were given back. */
  readonly givenBack: number;
  readonly shutdownTimeoutMs: number;
}

const workers = new Map<Stoppable, Progress>();
let stopping = false;

/** Lets signals stop this worker. */
export function follow(worker: Stoppable, progress: Progress): void {
  if (workers.size === 0) {
    stopping = false;
    process.on("SIGTERM", hear);
    process.on("SIGINT", hear);
  }
  workers.set(worker, progress);
}

/** The worker has ended. */
export function unfollow(worker: Stoppable): void {
  if (workers.delete(worker) && workers.size === 0) {
    process.off("SIGTERM", hear);
    process.off("SIGINT", hear);
  }
}

function hear(signal: NodeJS.Signals): void {
  if (stopping) {
    process.exit(CODES[signal as Signal]);
  }
  stopping = true;
  const all = [...workers.values()];
  const running = sum(all.map((one) => one.running));
  if (running > 0) {
    const wait = Math.max(...all.map((one) => one.shutdownTimeoutMs));
    say(
      `stopping: waiting up to ${spoken(wait)} for ${counted(running)}; ` +
        "a second signal ends at once",
    );
  }
  const stops = [...workers.keys()].map((worker) => worker.stop());
  void Promise.all(stops).then(() => {
    if (running > 0) {
      say(`stopped: ${counted(sum(all.map((one) => one.givenBack)))} given back`);
    }
    if (process.listenerCount(signal) === 0) {
      setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
    }
  });
}

function say(words: string): void {
  console.error(`halyard: ${words}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function counted(jobs: number): string {
  return jobs === 1 ? "1 job" : `${jobs} jobs`;
}

function spoken(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
