/**
 * Joins creates that are called at the same time.
 *
 * What is called while a create is under way goes out together when that one returns. Nothing waits
 * on a timer: a lone call goes out at once, with the end of the current turn of the event loop, and
 * the busier the program, the larger its batches.
 */

import type { Connection } from "../connection.js";
import type { CreatedJob } from "../records.js";
import { type CreateResult, createAll, partEnd } from "./create.js";
import type { Item } from "./new-job.js";

interface Waiting {
  item: Item;
  body: string;
  resolve(job: CreatedJob): void;
  reject(error: Error): void;
}

/** Creates that wait for the one under way. */
export class Joiner {
  readonly #connection: Connection;
  #waiting: Waiting[] = [];
  #sending = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Creates one job, together with whatever else is being created. */
  create(item: Item): Promise<CreatedJob> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, body: item.body, resolve, reject });
      if (!this.#sending) {
        this.#sending = true;
        setImmediate(this.#send);
      }
    });
  }

  readonly #send = (): void => {
    const end = partEnd(this.#waiting, 0);
    const next = this.#waiting.slice(0, end);
    this.#waiting = this.#waiting.slice(end);
    const items = next.map((waiting) => waiting.item);
    void createAll(this.#connection, items).then((results) => {
      for (const [n, result] of results.entries()) {
        settle(next[n] as Waiting, result);
      }
      // Callers who create again as soon as they have their answer come along.
      setImmediate(this.#goOn);
    });
  };

  readonly #goOn = (): void => {
    if (this.#waiting.length === 0) {
      this.#sending = false;
    } else {
      this.#send();
    }
  };
}

function settle(waiting: Waiting, result: CreateResult): void {
  if (!result.ok) {
    waiting.reject(result.error);
    return;
  }
  try {
    waiting.resolve(result.job);
  } catch (error) {
    // It was no job after all.
    waiting.reject(error as Error);
  }
}
