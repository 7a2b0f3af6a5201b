/**
 * Joins creates that are called at the same time.
 *
 * What is called while creates are under way goes out together when one of them returns. Nothing
 * waits on a timer: a lone call goes out at once, with the end of the current turn of the event
 * loop, and the busier the program, the larger its batches. Many are parted over two requests, so
 * that the program works on the one while the server works on the other.
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

/** Requests that are under way at the same time. */
const REQUESTS_MAX = 2;
/** So few creates wait for the request that is under way instead of taking a second one. */
const SECOND_MIN = 8;

/** Creates that wait for those under way. */
export class Joiner {
  readonly #connection: Connection;
  #waiting: Waiting[] = [];
  #underWay = 0;
  /** Whether the next request goes out with the end of this turn. */
  #due = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Creates one job, together with whatever else is being created. */
  create(item: Item): Promise<CreatedJob> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, body: item.body, resolve, reject });
      this.#goOn();
    });
  }

  #goOn(): void {
    const enough = this.#underWay === 0 ? 1 : SECOND_MIN;
    if (!this.#due && this.#underWay < REQUESTS_MAX && this.#waiting.length >= enough) {
      this.#due = true;
      setImmediate(this.#send);
    }
  }

  readonly #send = (): void => {
    const share = Math.ceil(this.#waiting.length / (REQUESTS_MAX - this.#underWay));
    const end = Math.min(partEnd(this.#waiting, 0), Math.max(share, SECOND_MIN));
    const next = this.#waiting.slice(0, end);
    this.#waiting = this.#waiting.slice(end);
    this.#underWay += 1;
    this.#due = false;
    this.#goOn();
    const items = next.map((waiting) => waiting.item);
    void createAll(this.#connection, items).then((results) => {
      for (const [n, result] of results.entries()) {
        settle(next[n] as Waiting, result);
      }
      this.#underWay -= 1;
      // Callers who create again as soon as they have their answer come along.
      this.#goOn();
    });
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
