/**
 * One server and the way to it: addresses, the key, repeats.
 *
 * `send` is the only place that sends producers' and operators' calls; a worker's calls go through
 * `sendOnce` as well, because the worker's loop decides itself when to repeat.
 */

import { pause } from "./duration.js";
import {
  type ApiError,
  ConnectionError,
  InvalidValueError,
  SettingsError,
  UnexpectedAnswerError,
} from "./errors.js";
import { HttpTransport } from "./http/transport.js";
import { makeId } from "./ids.js";
import { type Read, readJson } from "./json/read.js";
import { readProblem } from "./problem.js";
import { redirection } from "./redirect.js";
import { isTemporary, pauseBefore, retryAfterMs } from "./retry.js";
import {
  type Transport,
  type TransportAnswer,
  TransportError,
  type TransportRequest,
} from "./transport.js";
import { VERSION } from "./version.js";

/** How a client is set up. */
export interface Settings {
  url: URL;
  apiKey: string | undefined;
  /** How long one request may take, beside what it waits on purpose. */
  timeoutMs: number;
  /** For how long a call is repeated. */
  retryForMs: number;
  /** Whether integers beyond 2^53 are bigints. */
  bigint: boolean;
  /** The caller's own transport. */
  transport: Transport | undefined;
}

/** A request, complete but for the server's address. */
export interface Call {
  method: TransportRequest["method"];
  path: string;
  body?: string | undefined;
  /** Made here; all repeats of the request carry it. */
  idempotencyKey?: string | undefined;
  /** The server waits for up to this long before it answers. */
  waitMs?: number;
  /** Another limit for the time it may take. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** The errors of calls whose answer did not come in its time. */
const silences = new WeakSet<object>();

/** A way to the server. */
export class Connection {
  readonly settings: Settings;
  /** The server's address as it was given, without a slash at its end. */
  readonly address: string;
  readonly #transport: Transport;
  readonly #prefix: string;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #jsonHeaders: Readonly<Record<string, string>>;

  constructor(settings: Settings) {
    this.settings = settings;
    this.#origin = settings.url.origin;
    this.#prefix = settings.url.pathname.replace(/\/+$/, "");
    this.address = this.#origin + this.#prefix;
    this.#transport = settings.transport ?? new HttpTransport(settings.url);
    this.#headers = headers(settings.apiKey);
    this.#jsonHeaders = { ...this.#headers, "content-type": "application/json" };
  }

  get bigint(): boolean {
    return this.settings.bigint;
  }

  /** Sends a request, again and again while that may help; an answer that is an error is thrown. */
  async send(call: Call): Promise<Answer> {
    const answer = await this.exchange(call);
    if (!answer.isSuccess) {
      throw answer.error();
    }
    return answer;
  }

  /**
   * Sends a request, again and again while that may help; resolves with every complete answer,
   * whatever its status.
   */
  async exchange(call: Call): Promise<Answer> {
    const giveUp = performance.now() + this.settings.retryForMs;
    let maybeDone = false;
    for (let repeats = 0; ; repeats += 1) {
      let answer: Answer | undefined;
      let failure: ConnectionError | undefined;
      try {
        answer = await this.sendOnce(call);
      } catch (error) {
        failure = error as ConnectionError;
      }
      if (answer !== undefined && !isTemporary(answer.status)) {
        answer.maybeDone = maybeDone;
        return answer;
      }
      const wait = pauseBefore(repeats + 1, answer?.retryAfterMs, Math.random());
      // The wait for an answer that did not come may have used up all the time for repeats.
      const isSilence = failure !== undefined && silences.has(failure);
      const onceMore = isSilence && repeats === 0 && this.#repeatsSilence(call);
      if (performance.now() + wait > giveUp && !onceMore) {
        if (answer === undefined) {
          throw failure;
        }
        answer.maybeDone = maybeDone;
        return answer;
      }
      maybeDone ||= answer?.mayBeDone ?? true;
      await pause(wait);
    }
  }

  /**
   * Whether a request that got no answer in its time is sent a second time: one that does not wait
   * for something by itself, unless the caller wants no repeats.
   */
  #repeatsSilence(call: Call): boolean {
    return !call.waitMs && this.settings.retryForMs > 0;
  }

  /**
   * Sends a request once; resolves with every complete answer, whatever its status.
   *
   * @throws {@link ConnectionError}
   */
  async sendOnce(call: Call): Promise<Answer> {
    const base = call.body === undefined ? this.#headers : this.#jsonHeaders;
    const key = call.idempotencyKey;
    const path = this.#prefix + call.path;
    let answer: TransportAnswer;
    try {
      answer = await this.#transport.send({
        method: call.method,
        url: this.#origin + path,
        path,
        headers: key === undefined ? base : { ...base, "idempotency-key": key },
        body: call.body,
        timeoutMs: (call.timeoutMs ?? this.settings.timeoutMs) + (call.waitMs ?? 0),
        signal: call.signal,
      });
    } catch (error) {
      throw this.#failed(error);
    }
    return new Answer(answer, call.method, this.#origin + path);
  }

  /** Closes idle connections. */
  close(): void {
    this.#transport.close?.();
  }

  #failed(error: unknown): ConnectionError {
    const kind = error instanceof TransportError ? error.kind : "broken";
    const cause = error instanceof TransportError ? (error.cause ?? error) : error;
    const why = reason(cause);
    const message = {
      connect: `cannot reach ${this.address}: ${hint(cause)}${why}`,
      timeout: `no answer from ${this.address} in time`,
      broken: `the connection to ${this.address} broke before the answer was complete${why}`,
    }[kind];
    const failure = new ConnectionError(message, { cause });
    if (kind === "timeout") {
      silences.add(failure);
    }
    return failure;
  }
}

/** An answer, whatever its status. */
export class Answer {
  readonly status: number;
  readonly text: string;
  /** Whether an earlier sending of the request may have done it. */
  maybeDone = false;
  readonly #headers: TransportAnswer["headers"];
  readonly #method: string;
  readonly #url: string;

  constructor(answer: TransportAnswer, method: string, url: string) {
    this.status = answer.status;
    this.text = answer.body;
    this.#headers = answer.headers;
    this.#method = method;
    this.#url = url;
  }

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /**
   * Whether a refusal leaves open what was done: of a server that failed, or of a proxy that had
   * passed the request on. A server that is overloaded or about to end has done nothing.
   */
  get mayBeDone(): boolean {
    return this.status >= 500 && !["overloaded", "draining"].includes(codeOf(this.error()));
  }

  get retryAfterMs(): number | undefined {
    return retryAfterMs(this.#header("retry-after"), Date.now());
  }

  /** The server's clock, to the second. */
  get date(): Date | undefined {
    const date = new Date(this.#header("date") ?? Number.NaN);
    return Number.isNaN(date.getTime()) ? undefined : date;
  }

  get requestId(): string | undefined {
    return this.#header("x-request-id");
  }

  /** The error that this answer is. */
  error(): ApiError | UnexpectedAnswerError {
    const elsewhere = redirection(this.status, this.#url, this.#header("location"));
    if (elsewhere !== undefined) {
      return this.unexpected(elsewhere);
    }
    return readProblem(this.status, this.requestId, this.text);
  }

  /**
   * Reads the body, or a part of it.
   *
   * @throws {@link UnexpectedAnswerError}
   */
  json(bigint: boolean, text = this.text): Read {
    try {
      return readJson(text, bigint);
    } catch (error) {
      throw this.unexpected(error instanceof Error ? error.message : String(error));
    }
  }

  /** Says that the answer cannot be understood. */
  unexpected(detail: string): UnexpectedAnswerError {
    return new UnexpectedAnswerError(`${this.#method} ${this.#url}`, this.status, detail);
  }

  #header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === "string" ? value : value?.[0];
  }
}

/** The code of an answer that is an error; empty when it had none. */
export function codeOf(error: ApiError | UnexpectedAnswerError): string {
  return "code" in error ? error.code : "";
}

/** What may be wrong when no connection was made. */
function hint(cause: unknown): string {
  const { code = "" } = Object(cause) as { code?: unknown };
  if (typeof code === "string" && /^EPROTO$|^ERR_SSL_/.test(code)) {
    return "what answers there speaks no TLS; `halyard serve` itself speaks http://";
  }
  if (typeof code === "string" && /CERT|^UNABLE_TO_|SELF_SIGNED/.test(code)) {
    return "its certificate is not trusted; NODE_EXTRA_CA_CERTS names more authorities";
  }
  return "is `halyard serve` running?";
}

/**
 * What the system says about a connection, in brackets: a message is often all that is shown of an
 * error. Where a name has several addresses, what it says about the first.
 */
function reason(cause: unknown): string {
  const first = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
  if (!(first instanceof Error) || first instanceof TransportError) {
    return "";
  }
  // OpenSSL's begins with the number of a thread and ends with a line of its source.
  const tls = /:SSL routines:[^:]*:([^:]+):/.exec(first.message)?.[1];
  const said = (tls ?? first.message).replace(/\s+/g, " ").trim();
  return said === "" ? "" : ` (${said})`;
}

/** A path with each part escaped. */
export function path(...parts: string[]): string {
  let text = "";
  for (const part of parts) {
    // An address has no place for these, whichever way they are escaped.
    if (typeof part !== "string" || part === "" || part === "." || part === "..") {
      throw new InvalidValueError("the id or name", "", `\`${part}\` can be none`);
    }
    text += `/${encodeURIComponent(part)}`;
  }
  return text;
}

/** A query of those parameters that are there, with its question mark. */
export function query(parameters: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) {
      search.append(name, String(value));
    }
  }
  return search.size === 0 ? "" : `?${search}`;
}

/** An `Idempotency-Key` for one request, which all its repeats carry. */
export function once(): string {
  return makeId("once");
}

function headers(apiKey: string | undefined): Record<string, string> {
  const common = { accept: "application/json", "user-agent": `halyard-node/${VERSION}` };
  if (apiKey === undefined) {
    return common;
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const where = /\s/.test(apiKey) ? ": a space or a line end, such as that of a file" : "";
    throw new SettingsError(`the API key holds characters that no key has${where}`);
  }
  return { ...common, authorization: `Bearer ${apiKey}` };
}
