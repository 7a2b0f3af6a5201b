/** The client: where the server is, and a handle for each noun. */

import { Connection, type Settings } from "./connection.js";
import { Reader } from "./convert.js";
import { type Duration, milliseconds } from "./duration.js";
import { type HalyardError, SettingsError } from "./errors.js";
import { Jobs } from "./jobs/jobs.js";
import { plain, Queues, StatsCalls, Tasks, Workers } from "./operators.js";
import { refuseUnknown } from "./options.js";
import type { Version } from "./records.js";
import type { Transport } from "./transport.js";
import { Worker, type WorkerOptions } from "./worker/worker.js";

/** Where a server listens when nobody says otherwise. */
export const DEFAULT_URL = "http://127.0.0.1:7373";

/** How long one request may take by default, beside what it waits on purpose. */
const TIMEOUT_MS = 30_000;
/** For how long a call is repeated by default: long enough for a server to be restarted. */
const RETRY_FOR_MS = 10_000;

/** The settings of a client; what is left out comes from the environment or the defaults. */
export interface HalyardOptions {
  /** Where the server is; HALYARD_URL when left out, then `http://127.0.0.1:7373`. */
  url?: string | undefined;
  /** The bearer key; HALYARD_API_KEY when left out. */
  apiKey?: string | undefined;
  /**
   * How long one request may take, beside what it waits on purpose: more than 0; 30 s when left
   * out. One that got no answer by then is sent a second time, unless `retryFor` is 0.
   */
  timeout?: Duration | undefined;
  /**
   * For how long a call is repeated while the server cannot be reached or asks for patience; 10 s
   * when left out, and 0 sends every call once. A worker repeats its calls whatever is set here.
   */
  retryFor?: Duration | undefined;
  /**
   * Whether integers beyond 2^53 in payloads, results and checkpoints are bigints, and bigints can
   * be sent. Without it they are refused, and never rounded.
   */
  bigint?: boolean | undefined;
  /** What carries requests, instead of HTTP/1.1 over connections that stay open. */
  transport?: Transport | undefined;
}

/** How a server is. */
export interface Health {
  /** Why it takes no work; `null` when it does. */
  notReady: HalyardError | null;
  /** Its clock, to the second; `null` when it did not tell. */
  date: Date | null;
}

/**
 * A client of one server. Make one and keep it: creates that are called at the same time go out
 * together, and connections stay open. It keeps no process alive that has nothing else to do.
 */
export class Halyard {
  /** The calls about jobs. */
  readonly jobs: Jobs;
  /** The calls about queues. */
  readonly queues: Queues;
  /** The calls about live workers. */
  readonly workers: Workers;
  /** The calls about tasks. */
  readonly tasks: Tasks;
  /** The counters of the whole store. */
  readonly stats: StatsCalls;
  readonly #connection: Connection;

  /** @throws SettingsError when a setting cannot be used. Nothing is sent yet. */
  constructor(options: HalyardOptions = {}) {
    const connection = new Connection(settings(options));
    this.#connection = connection;
    this.jobs = new Jobs(connection);
    this.queues = new Queues(connection);
    this.workers = new Workers(connection);
    this.tasks = new Tasks(connection);
    this.stats = new StatsCalls(connection);
  }

  /** The server's address. */
  get url(): string {
    return this.#connection.address;
  }

  /**
   * A worker of this server; it does nothing before it is started.
   *
   * @throws SettingsError when a setting is missing or out of its range.
   */
  worker(options: WorkerOptions): Worker {
    return new Worker(this.#connection, options);
  }

  /** What answers at the address. It needs no key: to check one, call `stats.get()`. */
  version(): Promise<Version> {
    return plain(this.#connection, "GET", "/version", "api");
  }

  /**
   * Whether the server lives and takes work, and what its clock says. Asks once. It needs no key:
   * to check one, call `stats.get()`.
   */
  async health(): Promise<Health> {
    const alive = await this.#connection.sendOnce({ method: "GET", path: "/healthz" });
    if (!alive.isSuccess) {
      throw alive.error();
    }
    new Reader(alive, false).plain("status");
    const ready = await this.#connection.sendOnce({ method: "GET", path: "/readyz" });
    return { notReady: ready.isSuccess ? null : ready.error(), date: ready.date ?? null };
  }

  /** Closes idle connections. A client that is used again opens new ones. */
  close(): void {
    this.#connection.close();
  }
}

function settings(options: HalyardOptions): Settings {
  refuseUnknown("a client", options, OPTIONS);
  if (options.apiKey === "") {
    throw new SettingsError("the `apiKey` is empty: leave it out, or give a key of the server");
  }
  return {
    url: readUrl(options.url ?? fromEnvironment("HALYARD_URL") ?? DEFAULT_URL),
    apiKey: options.apiKey ?? fromEnvironment("HALYARD_API_KEY"),
    timeoutMs: timeout(options.timeout ?? TIMEOUT_MS),
    retryForMs: milliseconds(options.retryFor ?? RETRY_FOR_MS, "retryFor"),
    bigint: options.bigint ?? false,
    transport: options.transport,
  };
}

function timeout(duration: Duration): number {
  const ms = milliseconds(duration, "timeout");
  if (ms === 0) {
    throw new SettingsError(
      `timeout is ${JSON.stringify(duration)}: a request needs more than 0, such as "30s"; ` +
        "to send every call once, set `retryFor` to 0",
    );
  }
  return ms;
}

const OPTIONS = ["url", "apiKey", "timeout", "retryFor", "bigint", "transport"];

function fromEnvironment(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** @internal */
export function readUrl(text: string): URL {
  const wrong = (why: string) =>
    new SettingsError(`the server's address \`${text}\` ${why}; one is ${DEFAULT_URL}`);
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw wrong(`cannot be read (${(error as Error).message})`);
  }
  if (!/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw wrong("does not begin with http:// or https://");
  }
  if (url.search !== "" || url.hash !== "") {
    throw wrong("has a query or a fragment");
  }
  if (/\/v1\/*$/.test(url.pathname)) {
    throw wrong("ends with /v1: leave /v1 out of the address");
  }
  return url;
}
