/** The store for tests: what it knows ends with the process. */

import { type Claim, type Claimed, Store } from "./store.js";

interface Entry {
  fingerprint: string;
  owner: string;
  /** By the clock of this process, in milliseconds. */
  inProgressUntil: number;
  expiresAt: number;
  /** Whether this run took over from one that never said how it ended. */
  unknown: boolean;
  response: string | undefined;
}

/** Records in this process, for tests. */
export class MemoryStore extends Store {
  readonly #entries = new Map<string, Entry>();

  /** Forgets everything, for the next test. */
  clear(): void {
    this.#entries.clear();
  }

  override async claim(claim: Claim): Promise<Claimed> {
    const now = performance.now();
    const found = this.#entries.get(claim.key);
    const old = found !== undefined && found.expiresAt > now ? found : undefined;
    const claimed =
      old === undefined ? ({ kind: "mine", unknown: false } as const) : ask(old, claim, now);
    if (claimed.kind === "mine") {
      this.#entries.set(claim.key, {
        fingerprint: claim.fingerprint,
        owner: claim.owner,
        inProgressUntil: now + claim.inProgressMs,
        expiresAt: now + claim.expiresInMs,
        unknown: claimed.unknown,
        response: undefined,
      });
    }
    return claimed;
  }

  override async complete(
    key: string,
    owner: string,
    response: string,
    expiresInMs: number,
  ): Promise<boolean> {
    return this.#change(key, owner, (entry) => {
      entry.response = response;
      entry.expiresAt = performance.now() + expiresInMs;
    });
  }

  override async leave(key: string, owner: string): Promise<boolean> {
    return this.#change(key, owner, (entry) => {
      entry.inProgressUntil = performance.now();
    });
  }

  override async remove(key: string, owner: string): Promise<boolean> {
    return this.#change(key, owner, (entry) => {
      if (entry.unknown) {
        entry.inProgressUntil = performance.now();
      } else {
        this.#entries.delete(key);
      }
    });
  }

  /** Changes the record that `owner` has in progress. */
  #change(key: string, owner: string, change: (entry: Entry) => void): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.owner !== owner || entry.response !== undefined) {
      return false;
    }
    change(entry);
    return true;
  }
}

function ask(entry: Entry, claim: Claim, now: number): Claimed {
  if (entry.fingerprint !== claim.fingerprint) {
    return { kind: "reused" };
  }
  if (entry.response !== undefined) {
    return { kind: "completed", response: entry.response };
  }
  const leftMs = Math.ceil(entry.inProgressUntil - now);
  if (leftMs <= 0) {
    return { kind: "mine", unknown: true };
  }
  // The owner's own claim was sent again, because its answer was lost.
  return entry.owner === claim.owner
    ? { kind: "mine", unknown: entry.unknown }
    : { kind: "in_progress", leftMs };
}
