/**
 * The leases that a worker holds, in memory that its heartbeat thread shares: the thread sees every
 * lease from the moment it is claimed, without a message, also while a handler blocks the program.
 *
 * A row belongs to one start. The program writes who it is and frees it; the thread writes what
 * heartbeats said about it. Each side marks a row with the start's number after it has written, so
 * that the other one never takes half of it, or what belonged to the start before.
 */

/** Leases in one heartbeat, and so leases held by one worker. */
export const LEASES_MAX = 1_000;

/** Bytes of a lease as JSON; ids and tokens of today take about 90. */
const TEXT_BYTES = 512;

const AT = { start: 0, renewed: 1, ended: 2, length: 3, said: 4, expires: 5, status: 6 } as const;
const WORDS = 8;

/** What heartbeats said about a lease. */
export const OK = 0;
export const LOST = 1;
export const CANCEL = 2;

/** What the thread reads of a row. */
export interface Lease {
  row: number;
  /** The number of the start. */
  start: number;
  /** When it was claimed or last renewed. */
  renewed: number;
  /** When its handler ended; `undefined` while it runs. */
  ended: number | undefined;
  /** The lease as a heartbeat has it. */
  text: string;
}

/** What the program reads of a row. */
export interface Said {
  /** When the lease ends now. */
  expires: number;
  status: typeof OK | typeof LOST | typeof CANCEL;
}

/**
 * Times are milliseconds on the clock of {@link monotonic}, kept in 32 bits, which is unambiguous
 * within 24 days.
 */
export class LeaseTable {
  /** What both threads hold. */
  readonly memory: SharedArrayBuffer;
  readonly rows: number;
  readonly #words: Int32Array;
  readonly #texts: Buffer;
  readonly #free: number[] = [];

  constructor(rows: number, memory?: SharedArrayBuffer) {
    const wordBytes = rows * WORDS * 4;
    this.rows = rows;
    this.memory = memory ?? new SharedArrayBuffer(wordBytes + rows * TEXT_BYTES);
    this.#words = new Int32Array(this.memory, 0, rows * WORDS);
    this.#texts = Buffer.from(this.memory, wordBytes, rows * TEXT_BYTES);
    for (let row = rows - 1; row >= 0; row -= 1) {
      this.#free.push(row);
    }
  }

  /** Takes a row for a start; −1 when there is none for it. */
  take(start: number, text: string, renewed: number): number {
    if (text.length * 3 > TEXT_BYTES && Buffer.byteLength(text) > TEXT_BYTES) {
      return -1;
    }
    const row = this.#free.pop();
    if (row === undefined) {
      return -1;
    }
    const at = row * WORDS;
    const words = this.#words;
    words[at + AT.renewed] = renewed | 0;
    words[at + AT.ended] = 0;
    words[at + AT.length] = this.#texts.write(text, row * TEXT_BYTES, TEXT_BYTES, "utf8");
    Atomics.store(words, at + AT.start, start | 0);
    return row;
  }

  /** Says that the handler of a row has ended. */
  end(row: number, now: number): void {
    if (row >= 0) {
      // A time that happens to be 0 would say that it runs.
      this.#words[row * WORDS + AT.ended] = now | 0 || 1;
    }
  }

  /** Gives a row back: its lease is not renewed any more. */
  release(row: number): void {
    if (row >= 0) {
      Atomics.store(this.#words, row * WORDS + AT.start, 0);
      this.#free.push(row);
    }
  }

  /** What heartbeats last said about a start; `undefined` before the first one. */
  said(row: number, start: number, now: number): Said | undefined {
    if (row < 0) {
      return undefined;
    }
    const at = row * WORDS;
    const words = this.#words;
    if (Atomics.load(words, at + AT.said) !== (start | 0)) {
      return undefined;
    }
    const expires = whole(words[at + AT.expires] as number, now);
    const status = words[at + AT.status] as Said["status"];
    return Atomics.load(words, at + AT.said) === (start | 0) ? { expires, status } : undefined;
  }

  /** For the thread: every lease there is. */
  leases(now: number): Lease[] {
    const leases: Lease[] = [];
    const words = this.#words;
    for (let row = 0; row < this.rows; row += 1) {
      const at = row * WORDS;
      const start = Atomics.load(words, at + AT.start);
      if (start === 0) {
        continue;
      }
      const ended = words[at + AT.ended] as number;
      const begin = row * TEXT_BYTES;
      const lease = {
        row,
        start,
        renewed: whole(words[at + AT.renewed] as number, now),
        ended: ended === 0 ? undefined : whole(ended, now),
        text: this.#texts.toString("utf8", begin, begin + (words[at + AT.length] as number)),
      };
      if (Atomics.load(words, at + AT.start) === start) {
        leases.push(lease);
      }
    }
    return leases;
  }

  /** For the thread: what a heartbeat said about a lease. */
  say(lease: Lease, said: Said): void {
    const at = lease.row * WORDS;
    Atomics.store(this.#words, at + AT.said, 0);
    this.#words[at + AT.expires] = said.expires | 0;
    this.#words[at + AT.status] = said.status;
    Atomics.store(this.#words, at + AT.said, lease.start);
  }
}

/** The time that 32 bits of it stand for, near `now`. */
function whole(bits: number, now: number): number {
  return now + ((bits - (now | 0)) | 0);
}

/** Milliseconds on a clock that all threads of a process share and nobody sets. */
export function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
