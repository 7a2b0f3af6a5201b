/** A list that fetches its next page by itself. */

import { type Connection, query } from "../connection.js";
import { Reader } from "../convert.js";
import { InvalidValueError } from "../errors.js";
import type { JobSummary, State } from "../records.js";

/** Which jobs to list; all when empty. */
export interface ListJobs {
  state?: State | readonly State[] | undefined;
  queue?: string | undefined;
  task?: string | undefined;
  tag?: string | undefined;
  /** Needs `task`. */
  idempotencyKey?: string | undefined;
  createdAfter?: Date | string | undefined;
  createdBefore?: Date | string | undefined;
  /** By time of creation; newest first when left out. */
  order?: "asc" | "desc" | undefined;
  /** Rows of a page, at most 200; 50 when left out. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier page with the same filters. */
  cursor?: string | undefined;
}

/** The names of a filter. */
export const FILTERS: readonly string[] = [
  "state",
  "queue",
  "task",
  "tag",
  "idempotencyKey",
  "createdAfter",
  "createdBefore",
  "order",
  "limit",
  "cursor",
];

/** One page of a list. */
export interface JobPage {
  data: JobSummary[];
  /** Where the next page begins; `null` after the last one. */
  nextCursor: string | null;
  /** Whether the server looked at as many rows as it does for one page, and found no more there. */
  partial: boolean;
}

/** Jobs, page by page. `for await` goes through all of them. */
export class JobPages implements AsyncIterable<JobSummary> {
  readonly #connection: Connection;
  readonly #filter: ListJobs;

  /** @internal */
  constructor(connection: Connection, filter: ListJobs) {
    this.#connection = connection;
    this.#filter = filter;
  }

  /** All jobs, one after the other. */
  async *[Symbol.asyncIterator](): AsyncGenerator<JobSummary, void, undefined> {
    for await (const page of this.pages()) {
      yield* page.data;
    }
  }

  /** All pages, one after the other. */
  async *pages(): AsyncGenerator<JobPage, void, undefined> {
    let cursor: string | null | undefined = this.#filter.cursor;
    do {
      const page: JobPage = await this.#fetch(cursor);
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** The first page. */
  page(): Promise<JobPage> {
    return this.#fetch(this.#filter.cursor);
  }

  async #fetch(cursor: string | undefined): Promise<JobPage> {
    const path = `/v1/jobs${query({ ...parameters(this.#filter), cursor })}`;
    const answer = await this.#connection.send({ method: "GET", path });
    const reader = new Reader(answer, this.#connection.bigint);
    const { next_cursor, partial } = reader.value as {
      next_cursor?: string | null;
      partial?: boolean;
    };
    const data = reader.list("data").map((job) => reader.summary(job));
    return { data, nextCursor: next_cursor ?? null, partial: partial === true };
  }
}

/** The filter as a query has it. */
export function parameters(filter: ListJobs): Record<string, string | number | undefined> {
  const { state } = filter;
  return {
    state: Array.isArray(state) ? state.join(",") : (state as State | undefined),
    queue: filter.queue,
    task: filter.task,
    tag: filter.tag,
    idempotency_key: filter.idempotencyKey,
    created_after: time("createdAfter", filter.createdAfter),
    created_before: time("createdBefore", filter.createdBefore),
    order: filter.order,
    limit: filter.limit,
  };
}

function time(name: string, at: Date | string | undefined): string | undefined {
  if (!(at instanceof Date)) {
    return at;
  }
  if (Number.isNaN(at.getTime())) {
    throw new InvalidValueError(name, "", "the date is invalid");
  }
  return at.toISOString();
}
