/** The calls about queues, workers, tasks and the store as a whole. */

import { type Connection, path } from "./connection.js";
import { camel, Reader } from "./convert.js";
import type { Queue, Stats, TaskRecord, WorkerRecord } from "./records.js";

/** The calls about queues. */
export class Queues {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Every queue. */
  list(): Promise<Queue[]> {
    return list(this.#connection, "/v1/queues");
  }

  /** One queue. */
  get(name: string): Promise<Queue> {
    return plain(this.#connection, "GET", `/v1/queues${path(name)}`, "counts");
  }

  /** Lets no job of the queue start any more; one that nobody knows is made. */
  pause(name: string): Promise<Queue> {
    return plain(this.#connection, "POST", `/v1/queues${path(name)}/pause`, "counts");
  }

  /** Lets its jobs start again. */
  resume(name: string): Promise<Queue> {
    return plain(this.#connection, "POST", `/v1/queues${path(name)}/resume`, "counts");
  }
}

/** The calls about live workers. */
export class Workers {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Every live worker. */
  list(): Promise<WorkerRecord[]> {
    return list(this.#connection, "/v1/workers");
  }
}

/** The calls about tasks. */
export class Tasks {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Every task that has jobs, and how many workers handle it. */
  list(): Promise<TaskRecord[]> {
    return list(this.#connection, "/v1/tasks");
  }
}

/** The counters of the whole store. */
export class StatsCalls {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The counters as they are now. */
  get(): Promise<Stats> {
    return plain(this.#connection, "GET", "/v1/stats", "totals");
  }
}

/** @internal A call whose answer is one object with this member. */
export async function plain<T>(
  connection: Connection,
  method: "GET" | "POST",
  target: string,
  member: string,
): Promise<T> {
  const answer = await connection.send({ method, path: target });
  return new Reader(answer, connection.bigint).plain<T>(member);
}

async function list<T>(connection: Connection, target: string): Promise<T[]> {
  const answer = await connection.send({ method: "GET", path: target });
  return new Reader(answer, connection.bigint).list("data").map((one) => camel(one) as T);
}
