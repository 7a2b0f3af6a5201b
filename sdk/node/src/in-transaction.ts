/**
 * Jobs in the caller's own transaction: the functions that the server keeps in its PostgreSQL
 * schema, called on the caller's connection.
 */

import {
  ApiError,
  CheckpointConflictError,
  IdempotencyConflictError,
  LeaseLostError,
  SettingsError,
} from "./errors.js";
import { refuseUnknown } from "./options.js";
import type { State } from "./records.js";

/** A client of `pg` in a transaction; anything that queries in the same form will do. */
export interface TransactionClient {
  // biome-ignore lint/suspicious/noExplicitAny: rows are whatever was asked for
  query(text: string, values?: unknown[]): Promise<{ rows: any[] }>;
  /** `I` when it is in no transaction. */
  getTransactionStatus?(): string | null;
}

/** Where the server keeps its jobs. */
export interface InOptions {
  /** The server's `--database-schema`; `halyard` when left out. */
  schema?: string | undefined;
}

/** The job that a create in a transaction made or found. */
export interface CreatedIn {
  readonly id: string;
  readonly state: State;
  readonly life: number;
  /** Whether the job was there already. */
  readonly replayed: boolean;
  /** Whether the job had failed and this create opened a new life. */
  readonly revived: boolean;
  /** Whether the job's row is gone and only its key answers. */
  readonly purged: boolean;
}

const CREATE = `SELECT made.* FROM (SELECT $1::json AS job) AS sent, LATERAL halyard.create_job(
  job ->> 'task', job -> 'payload',
  (SELECT json_object_agg(key, value) FROM json_each(job) WHERE key NOT IN ('task', 'payload'))
) AS made`;
const FINISH = "SELECT * FROM halyard.finish_job($1, $2, $3::json)";
const CHECKPOINT = "SELECT * FROM halyard.checkpoint_job($1, $2, $3, $4::json)";

/** The status that a code has in the HTTP API. */
const STATUS: Readonly<Record<string, number>> = {
  idempotency_key_reused: 422,
  id_taken: 409,
  checkpoint_conflict: 409,
  job_not_found: 404,
  payload_too_large: 413,
};

/** @internal Creates; `body` is the job as JSON. */
export async function createIn(
  client: TransactionClient,
  body: string,
  options: InOptions,
): Promise<CreatedIn> {
  return await call(client, CREATE, [body], options);
}

/** @internal Completes; `result` is JSON. */
export async function finishIn(
  client: TransactionClient,
  lease: { id: string; token: string },
  result: string | undefined,
  options: InOptions,
): Promise<void> {
  await call(client, FINISH, [lease.id, lease.token, result ?? null], options);
}

/** @internal Saves a checkpoint; `value` is JSON. Answers whether a cancel was requested. */
export async function writeIn(
  client: TransactionClient,
  lease: { id: string; token: string },
  name: string,
  value: string | undefined,
  options: InOptions,
): Promise<boolean> {
  const values = [lease.id, lease.token, name, value ?? null];
  return (await call(client, CHECKPOINT, values, options)).cancel_requested === true;
}

async function call(
  client: TransactionClient,
  statement: string,
  values: unknown[],
  options: InOptions,
) {
  refuseUnknown("a call in a transaction", options, ["schema"]);
  if (typeof client?.query !== "function" || "totalCount" in client) {
    throw new SettingsError(
      "give the client on which the transaction was begun; a pool takes another one for each query",
    );
  }
  if (client.getTransactionStatus?.() === "I") {
    throw new SettingsError("the client is in no transaction: begin one first");
  }
  const schema = options.schema ?? "halyard";
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(schema)) {
    throw new SettingsError(`${JSON.stringify(schema)} cannot name the schema`);
  }
  try {
    const { rows } = await client.query(statement.replace("halyard.", `"${schema}".`), values);
    return rows[0];
  } catch (error) {
    throw refusal(error, schema);
  }
}

/** What an error of the database says; the database's own errors stay what they are. */
function refusal(error: unknown, schema: string): unknown {
  const { code: state, message, detail } = error as Record<string, unknown>;
  if (state === "42883" || state === "3F000") {
    return new SettingsError(
      `the schema "${schema}" of this database has no functions of a Halyard server: ${message}`,
      { cause: error },
    );
  }
  if (state === "22P02" || state === "22P05") {
    return new ApiError({
      status: 400,
      code: "invalid_field",
      detail: `${message}`,
      requestId: "",
    });
  }
  if (typeof state !== "string" || !state.startsWith("YH")) {
    return error;
  }
  const { code, about } = JSON.parse(String(detail));
  if (code === "lease_lost") {
    return new LeaseLostError();
  }
  const told = { status: STATUS[code] ?? 400, code, detail: `${message}`, requestId: "" };
  if (code === "idempotency_key_reused") {
    return new IdempotencyConflictError({ ...told, job: about.job }, null);
  }
  if (code === "checkpoint_conflict") {
    return new CheckpointConflictError(told, about.checkpoint, about.value);
  }
  return new ApiError({ ...told, job: about.job });
}
