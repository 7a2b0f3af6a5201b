/**
 * Whether the worker has gone on all the time, or has stood still: its process was frozen, or a
 * handler blocked the program. Pure.
 *
 * What it reads after that may have come long before, and the times in it count from when it came.
 */

/** How often the worker looks at the clock while it waits for an answer. */
const LOOK_MS = 500;
/** From this long without a look on it has stood still. A lease takes five times as long. */
const STILL_MS = 1_000;

export class Pulse {
  /** When the worker last looked. */
  #last: number;
  /** When it last looked before it stood still; until the look after the next one. */
  #stillFrom: number | undefined;

  constructor(now: number) {
    this.#last = now;
  }

  look(now: number): void {
    // Looks in quick succession are one: what came meanwhile takes some turns to be read.
    if (now >= this.wakeAt) {
      this.#stillFrom = now - this.#last >= STILL_MS ? this.#last : undefined;
      this.#last = now;
    }
  }

  /** When that which is read at `now` may have come at the earliest. */
  cameAt(now: number): number {
    return now - this.#last >= STILL_MS ? this.#last : (this.#stillFrom ?? now);
  }

  /** When to look again. */
  get wakeAt(): number {
    return this.#last + LOOK_MS;
  }
}
