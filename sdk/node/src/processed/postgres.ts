/** Records in the user's PostgreSQL: a row each of the table `halyard_processed`. */

import { CLAIM, COMPLETE, LEAVE, MIGRATE, PRUNE, READ, REMOVE } from "../_generated/statements.js";
import { SettingsError } from "../errors.js";
import type { Jsonify } from "../json/jsonify.js";
import {
  answerForUnknown,
  begunBy,
  claimOf,
  keptMs,
  type OnceOptions,
  read,
  write,
} from "./once.js";
import { asked, type Claim, type Claimed, Store, StoreError } from "./store.js";

/** The name of the table in the statements. */
const TABLE = "halyard_processed";
/** How often a claim looks at what stands in its way: a record that is gone by then, or over. */
const CLAIM_TRIES = 10;
/** Marks the transaction that the work is given. */
const SAVEPOINT = "halyard_processed_work";
/** A name that needs no quotes, perhaps with that of its schema. */
const PLAIN = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/;

/** What PostgreSQL answers, as far as it is used. */
export interface PostgresResult {
  // biome-ignore lint/suspicious/noExplicitAny: rows are what the statement asks for
  rows: any[];
  rowCount: number | null;
}

/** A client of `pg`, as far as it is used. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  /** `I` when it is in no transaction. */
  getTransactionStatus?(): string | null;
}

/** A client that a pool has lent. */
interface LentClient extends PostgresClient {
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

interface Pool extends PostgresClient {
  connect(): Promise<LentClient>;
  totalCount: number;
}

/** How a PostgresStore keeps its records. */
export interface PostgresOptions {
  /** Another table than `halyard_processed`, perhaps with its schema: `billing.processed`. */
  table?: string | undefined;
}

/**
 * Records in PostgreSQL 12 or newer, over the caller's own pool or connected client of `pg`.
 *
 * A single client must be the store's own: a claim while it is in a transaction is refused.
 * `migrate` makes the table. Rows that are to change together with the record need `transaction`;
 * everything else that a handler does is outside, and the store only narrows the window between it
 * and its record.
 */
export class PostgresStore extends Store {
  /** What was given, for transactions; the other statements take `#client`. */
  readonly #given: PostgresClient;
  readonly #client: PostgresClient;
  readonly #statements: ReturnType<typeof statementsOf>;

  /** @throws SettingsError for a table that is not of small letters, digits and `_`. */
  constructor(clientOrPool: PostgresClient, options: PostgresOptions = {}) {
    super();
    const { table = TABLE, ...unknown } = options;
    if (typeof clientOrPool?.query !== "function" || Object.keys(unknown).length > 0) {
      throw new SettingsError("PostgresStore needs a client or a pool of `pg`, and takes `table`");
    }
    if (!PLAIN.test(table)) {
      throw new SettingsError(`\`${table}\` is no plain name of a table`);
    }
    this.#given = clientOrPool;
    this.#client = isPool(clientOrPool) ? clientOrPool : new InTurn(clientOrPool);
    this.#statements = statementsOf(table);
  }

  /**
   * Makes the table, unless it is there.
   *
   * @throws StoreError with that of the database.
   */
  async migrate(): Promise<void> {
    await asked(this.#client.query(this.#statements.migrate));
  }

  /**
   * Deletes records that have expired, and answers how many. Claims do not need it; the disk does,
   * once a day or so.
   *
   * @throws StoreError with that of the database.
   */
  async prune(): Promise<number> {
    for (let all = 0; ; ) {
      const { rowCount } = await asked(this.#client.query(this.#statements.prune));
      if (rowCount === null || rowCount === 0) {
        return all;
      }
      all += rowCount;
    }
  }

  override async claim(claim: Claim): Promise<Claimed> {
    // What is claimed in a transaction of somebody else is seen by nobody, and gone if it fails.
    if (this.#client instanceof InTurn && (await this.#client.isInTransaction())) {
      throw new StoreError(
        "its client is in a transaction: give the PostgresStore a pool, or a client of its own",
      );
    }
    return await this.#claim(this.#client, claim);
  }

  override async complete(
    key: string,
    owner: string,
    response: string,
    expiresInMs: number,
  ): Promise<boolean> {
    return await this.#complete(this.#client, key, owner, response, expiresInMs);
  }

  override async leave(key: string, owner: string): Promise<boolean> {
    return await this.#change(this.#client, this.#statements.leave, [key, owner]);
  }

  override async remove(key: string, owner: string): Promise<boolean> {
    return await this.#change(this.#client, this.#statements.remove, [key, owner]);
  }

  /**
   * Does the work in a transaction that also holds the record: both are there afterwards or neither
   * is, however often the work is begun and wherever it is killed. A second run waits for the first
   * one's commit and gets its response. The store needs a pool for it, which lends each transaction
   * a client of its own.
   *
   * Only what the work writes through `tx` is exactly once. What it does elsewhere, a charge or an
   * e-mail, still needs a key of its own.
   *
   * @throws what `once` throws; after any of it nothing was written. An error of the commit itself
   *   leaves open whether it was; the next run finds out. StoreError when the work has ended the
   *   transaction itself: what it has committed by that stays.
   */
  async transaction<Value>(
    key: string,
    work: (tx: PostgresClient) => Value | Promise<Value>,
    options: OnceOptions<Value> = {},
  ): Promise<Jsonify<Value>> {
    const claim = claimOf(key, options);
    const client = await this.#lend();
    // A connection that breaks is told by the statement that is under way.
    const ignore = () => {};
    client.on("error", ignore);
    let ended = false;
    try {
      await asked(client.query("begin"));
      const response = await this.#inTransaction(client, claim, work, options);
      await asked(client.query("commit"));
      ended = true;
      return read(response, options);
    } catch (error) {
      ended = await client.query("rollback").then(
        () => true,
        () => false,
      );
      throw error;
    } finally {
      client.removeListener("error", ignore);
      client.release(!ended);
    }
  }

  async #inTransaction<Value>(
    client: PostgresClient,
    claim: Claim,
    work: (tx: PostgresClient) => Value | Promise<Value>,
    options: OnceOptions<Value>,
  ): Promise<string> {
    const { key, owner } = claim;
    const begun = begunBy(key, await this.#claim(client, claim));
    if (begun.before !== undefined) {
      return begun.before;
    }
    const told = begun.unknown ? await answerForUnknown(key, options) : undefined;
    const response = told ?? write(await withinOwn(client, key, work), options);
    if (!(await this.#complete(client, key, owner, response, keptMs(options)))) {
      throw new StoreError(`the work of \`${key}\` took its record away`);
    }
    return response;
  }

  async #lend(): Promise<LentClient> {
    if (!isPool(this.#given)) {
      throw new SettingsError(
        "a transaction needs a client of its own: make the PostgresStore with a pool of `pg`",
      );
    }
    return await asked(this.#given.connect());
  }

  async #claim(client: PostgresClient, claim: Claim): Promise<Claimed> {
    const { key, fingerprint, owner } = claim;
    const times = [Math.round(claim.inProgressMs), Math.round(claim.expiresInMs)];
    const { claim: take, read: look } = this.#statements;
    for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
      const mine = await asked(client.query(take, [key, fingerprint, owner, ...times]));
      if (mine.rows.length > 0) {
        return { kind: "mine", unknown: mine.rows[0].unknown === true };
      }
      const other = await asked(client.query(look, [key]));
      const claimed = other.rows.length > 0 ? inTheWay(other.rows[0], fingerprint) : undefined;
      if (claimed !== undefined) {
        return claimed;
      }
    }
    throw new StoreError(`the record of \`${key}\` changes too fast`);
  }

  async #complete(
    client: PostgresClient,
    key: string,
    owner: string,
    response: string,
    expiresInMs: number,
  ): Promise<boolean> {
    const values = [key, owner, response, Math.round(expiresInMs)];
    return await this.#change(client, this.#statements.complete, values);
  }

  async #change(client: PostgresClient, statement: string, values: unknown[]): Promise<boolean> {
    return (await asked(client.query(statement, values))).rowCount === 1;
  }
}

/** What the work returns, if the transaction that it was given is still the one under way then. */
async function withinOwn<Value>(
  client: PostgresClient,
  key: string,
  work: (tx: PostgresClient) => Value | Promise<Value>,
): Promise<Value> {
  await asked(client.query(`savepoint ${SAVEPOINT}`));
  const value = await work(client);
  try {
    // A mark that is gone with its transaction, and is in no other.
    await client.query(`release savepoint ${SAVEPOINT}`);
  } catch (cause) {
    throw new StoreError(`the work of \`${key}\` ended or broke its transaction`, { cause });
  }
  return value;
}

function isPool(given: PostgresClient): given is Pool {
  return "connect" in given && "totalCount" in given;
}

/** A client that is asked one thing after the other, as it wants to be. */
class InTurn implements PostgresClient {
  readonly #client: PostgresClient;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  query(text: string, values?: unknown[]): Promise<PostgresResult> {
    const answer = this.#last.then(() => this.#client.query(text, values));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Whether it is in a transaction, as far as its `pg` tells. */
  async isInTransaction(): Promise<boolean> {
    await this.#last;
    return ["T", "E"].includes(this.#client.getTransactionStatus?.() ?? "");
  }
}

interface Row {
  fingerprint: string;
  state: string;
  response: string | null;
  /** A number of 64 bits, which `pg` gives as text. */
  left_ms: string | number;
}

/** What stands in the way of a claim; `undefined` when it is over by now. */
function inTheWay(row: Row, fingerprint: string): Claimed | undefined {
  if (row.fingerprint !== fingerprint) {
    return { kind: "reused" };
  }
  if (row.state === "completed") {
    return { kind: "completed", response: row.response ?? "null" };
  }
  const leftMs = Number(row.left_ms);
  return leftMs > 0 ? { kind: "in_progress", leftMs } : undefined;
}

function statementsOf(table: string) {
  // An index is in the schema of its table, and its name has none.
  const index = `${table.slice(table.lastIndexOf(".") + 1)}_expires_at`;
  const withTable = (statement: string) =>
    statement
      .split(`${TABLE}_expires_at`)
      .map((part) => part.replaceAll(TABLE, table))
      .join(index);
  return {
    migrate: withTable(MIGRATE),
    claim: withTable(CLAIM),
    read: withTable(READ),
    complete: withTable(COMPLETE),
    leave: withTable(LEAVE),
    remove: withTable(REMOVE),
    prune: withTable(PRUNE),
  };
}
