/** Records in the user's Redis: one JSON string each, under `halyard:processed:` and the key. */

import { RECORD } from "../_generated/statements.js";
import { SettingsError } from "../errors.js";
import { asked, type Claim, type Claimed, Store, StoreError } from "./store.js";

/** Before the key. */
const PREFIX = "halyard:processed:";

/** A client of `ioredis`, as far as it is used. */
export interface IoRedisClient {
  defineCommand(name: string, definition: { lua: string }): void;
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
}

/** A client of `redis` (node-redis), as far as it is used. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/**
 * Records in Redis 6.2 or newer, over the caller's own connected client of `ioredis` or `redis`.
 *
 * Redis only narrows the window between an effect and its record. One that may lose acknowledged
 * writes (no append-only file, a failover) forgets records, and the work is done again.
 */
export class RedisStore extends Store {
  readonly #evaluate: (key: string, rest: string[]) => Promise<unknown>;

  /** @throws SettingsError for what is no such client. */
  constructor(client: IoRedisClient | NodeRedisClient) {
    super();
    if (typeof client?.eval !== "function") {
      throw new SettingsError("RedisStore needs a client of `ioredis` or `redis`");
    }
    // Every verb is one script, so that each is one step.
    this.#evaluate =
      "defineCommand" in client
        ? (key, rest) => client.eval(RECORD, 1, key, ...rest)
        : (key, rest) => client.eval(RECORD, { keys: [key], arguments: rest });
  }

  override async claim(claim: Claim): Promise<Claimed> {
    const { key, fingerprint, owner, inProgressMs, expiresInMs } = claim;
    const times = [whole(inProgressMs), whole(expiresInMs)];
    return read(key, await this.#ask(key, ["claim", fingerprint, owner, ...times]));
  }

  override async complete(
    key: string,
    owner: string,
    response: string,
    expiresInMs: number,
  ): Promise<boolean> {
    const answer = await this.#ask(key, ["complete", owner, response, whole(expiresInMs)]);
    return Number(answer) === 1;
  }

  override async leave(key: string, owner: string): Promise<boolean> {
    return Number(await this.#ask(key, ["leave", owner])) === 1;
  }

  override async remove(key: string, owner: string): Promise<boolean> {
    return Number(await this.#ask(key, ["remove", owner])) === 1;
  }

  #ask(key: string, rest: string[]): Promise<unknown> {
    return asked(this.#evaluate(PREFIX + key, rest));
  }
}

function whole(ms: number): string {
  return String(Math.round(ms));
}

function read(key: string, answer: unknown): Claimed {
  const [kind, value] = Array.isArray(answer) ? answer : [];
  switch (String(kind)) {
    case "mine":
      return { kind: "mine", unknown: Number(value) === 1 };
    case "completed":
      return { kind: "completed", response: String(value) };
    case "in_progress":
      return { kind: "in_progress", leftMs: Number(value) };
    case "reused":
      return { kind: "reused" };
    default:
      throw new StoreError(`the record of \`${key}\` is none of Halyard's`);
  }
}
