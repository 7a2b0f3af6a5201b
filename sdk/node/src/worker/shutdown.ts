/**
 * How a worker ends: it claims no more, waits for its handlers, then aborts them and gives back
 * what is left, and reports for as long as that can help. Pure.
 */

/** How long an aborted handler may go on when the worker ends. */
const GRACE_MS = 1_000;
/**
 * How long reports are then repeated for a server that is away: with the default of 25 s for the
 * handlers the whole stays below 30 s, after which process managers kill.
 */
const REPORT_FOR_MS = 3_500;

/** How long after its handlers were to be told to stop each phase lasts. */
const PATIENCE_MS = {
  waiting: 0,
  aborted: GRACE_MS,
  abandoned: GRACE_MS + REPORT_FOR_MS,
  done: Number.POSITIVE_INFINITY,
} as const;

/** What an ending worker may do to what it holds. */
export interface Endings {
  nothingIsLeft(): boolean;
  /** Tells all handlers to stop, with no more patience than until `dropAt`. */
  abortAll(dropAt: number): void;
  /** Gives back what still runs. Whatever those handlers return is never reported. */
  abandonAll(): void;
}

export class Shutdown {
  readonly #abortAt: number;
  /** Waits for handlers; has told them to stop; has given up those that did not; is over. */
  #phase: keyof typeof PATIENCE_MS = "waiting";
  #told = false;

  constructor(abortAt: number) {
    this.#abortAt = abortAt;
  }

  get isDone(): boolean {
    return this.#phase === "done";
  }

  /** The server was told that the worker ends. */
  told(): void {
    this.#told = true;
  }

  /** When the time of the current phase is over. */
  get wakeAt(): number {
    return this.#abortAt + PATIENCE_MS[this.#phase];
  }

  /** Takes the steps whose time has come. */
  pass(now: number, endings: Endings): void {
    while (this.#phase !== "done") {
      if (this.#told && endings.nothingIsLeft()) {
        this.#phase = "done";
        return;
      }
      if (now < this.wakeAt) {
        return;
      }
      if (this.#phase === "waiting") {
        this.#phase = "aborted";
        endings.abortAll(this.wakeAt);
      } else if (this.#phase === "aborted") {
        this.#phase = "abandoned";
        endings.abandonAll();
      } else {
        this.#phase = "done";
      }
    }
  }
}
