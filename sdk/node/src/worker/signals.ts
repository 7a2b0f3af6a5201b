/**
 * SIGTERM and SIGINT: the first one stops all workers of the process, the second one ends it.
 *
 * Once the workers have ended, a program that listens to the signal itself goes its own way. Any
 * other would have been ended by the signal, had no worker listened: it has a moment to end by
 * itself, and is ended then.
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

const workers = new Set<Stoppable>();
let stopping = false;

/** Lets signals stop this worker. */
export function follow(worker: Stoppable): void {
  if (workers.size === 0) {
    stopping = false;
    process.on("SIGTERM", hear);
    process.on("SIGINT", hear);
  }
  workers.add(worker);
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
  const stops = [...workers].map((worker) => worker.stop());
  void Promise.all(stops).then(() => {
    if (process.listenerCount(signal) === 0) {
      setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
    }
  });
}
