/** Every store, on the Redis and the PostgreSQL of `scripts/services`. */

import { randomUUID } from "node:crypto";
import { MemoryStore, PostgresStore, RedisStore, type Store } from "@halyard/node";
import { Redis } from "ioredis";
import pg from "pg";
import { createClient } from "redis";

function url(name: string): string {
  const found = process.env[name];
  if (found === undefined) {
    throw new Error(`${name} names no server: scripts/services run npm --prefix sdk/node test`);
  }
  return found;
}

export const ioredis = () => new Redis(url("HALYARD_TEST_REDIS_URL"));
export const nodeRedis = () => createClient({ url: url("HALYARD_TEST_REDIS_URL") });
export const pool = (max = 10) =>
  new pg.Pool({ connectionString: url("HALYARD_TEST_POSTGRES_URL"), max });
export const client = () => new pg.Client({ connectionString: url("HALYARD_TEST_POSTGRES_URL") });

/** Stores by name, each made anew, and how to close it. */
export const stores: Record<string, () => Promise<{ store: Store; close(): Promise<unknown> }>> = {
  async MemoryStore() {
    return { store: new MemoryStore(), close: async () => {} };
  },
  async "RedisStore on ioredis"() {
    const redis = ioredis();
    return { store: new RedisStore(redis), close: () => redis.quit() };
  },
  async "RedisStore on node-redis"() {
    const redis = nodeRedis();
    await redis.connect();
    return { store: new RedisStore(redis), close: () => redis.close() };
  },
  async "PostgresStore on a pool"() {
    const database = pool();
    const store = new PostgresStore(database);
    await store.migrate();
    return { store, close: () => database.end() };
  },
  async "PostgresStore on a client"() {
    const database = client();
    await database.connect();
    const store = new PostgresStore(database);
    await store.migrate();
    return { store, close: () => database.end() };
  },
};

/** A key that no other test uses. */
export function key(name: string): string {
  return `${randomUUID()}:${name}`;
}
