/**
 * The processed store: was this outside effect done already, and with what response?
 *
 * | | |
 * |---|---|
 * | {@link idempotent} | a handler that is called once for each job |
 * | `store.once` | a part of a handler, under a key of its own |
 * | {@link RedisStore} {@link PostgresStore} | stores in the user's own database |
 * | {@link MemoryStore} | for tests |
 * | `PostgresStore.transaction` | record and business rows in one transaction |
 *
 * A record is claimed before the work and completed after it; whoever finds it in progress waits,
 * and whoever finds it completed gets its response. Records are the user's, in the user's own
 * database; Halyard's server does not know them. Every SDK reads the records of the others
 * (`sdk/scenarios/processed.json`).
 *
 * What it does not do: a worker that dies between the effect and its record leaves the outcome
 * *unknown*, and the next run does the effect again unless `onUnknown` says otherwise. No store can
 * close that window for an effect outside of it, so the effect's own key still goes to the provider
 * (`job.id`, `job.keyFor`). Only rows in the same PostgreSQL can be had exactly once.
 *
 * | file | |
 * |---|---|
 * | `store` | {@link Store} and what it says |
 * | `once` | one piece of work under one key, from claim to response |
 * | `idempotent` | the same for a whole handler |
 * | `ending` | what becomes of the record when the work failed |
 * | `fingerprint` | what a key is used for |
 * | `memory` `redis` `postgres` | the stores; the clients are the user's, so nothing is imported |
 */

export { fingerprint } from "./fingerprint.js";
export { type IdempotentOptions, idempotent } from "./idempotent.js";
export { MemoryStore } from "./memory.js";
export type { OnceOptions, OnUnknown, Unknown } from "./once.js";
export {
  type PostgresClient,
  type PostgresOptions,
  type PostgresResult,
  PostgresStore,
} from "./postgres.js";
export { type IoRedisClient, type NodeRedisClient, RedisStore } from "./redis.js";
export { type Claim, type Claimed, KeyReusedError, Store, StoreError } from "./store.js";
