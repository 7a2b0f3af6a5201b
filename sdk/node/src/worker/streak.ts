/** Failures in a row of one kind of call, and when to tell of them. Pure. */

/**
 * A broken connection is told of at this failure in a row: proxies and servers close connections
 * that are idle, and then the repeat succeeds at once.
 */
const BROKEN_TOLD_AT = 2;

export class Streak {
  #failures = 0;
  #told = false;

  /**
   * Takes in a failure, `broken` when there was no answer; says whether to tell of it, which is
   * once in a row.
   */
  failed(broken: boolean): boolean {
    this.#failures += 1;
    const tell = !this.#told && (!broken || this.#failures >= BROKEN_TOLD_AT);
    this.#told ||= tell;
    return tell;
  }

  /** Takes in an answer. */
  answered(): void {
    this.#failures = 0;
    this.#told = false;
  }

  /** How many calls in a row have failed. */
  get failures(): number {
    return this.#failures;
  }
}
