/**
 * What carries requests to the server. The one that is used unless the caller brings another keeps
 * its connections open and stands on `node:http` and `node:https`, which carry several times as
 * many requests a second as the built-in `fetch`.
 */

import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { TIMER_MAX_MS } from "./duration.js";

/** How long to wait for a TCP connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Idle connections are given up before the server closes them (75 s), so that a request rarely
 * meets a connection that is just being closed.
 */
const IDLE_TIMEOUT_MS = 30_000;

/** A request, complete. */
export interface TransportRequest {
  method: "GET" | "POST" | "DELETE";
  /** The whole address. */
  url: string;
  /** The part of it behind host and port. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** JSON, already as text. */
  body?: string | undefined;
  /** How long the exchange may take, until the last byte of the answer. */
  timeoutMs: number;
  /** Hangs up when it aborts. */
  signal?: AbortSignal | undefined;
}

/** An answer, whatever its status, complete. */
export interface TransportAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/**
 * Carries requests to the server. `send` rejects when there is no complete answer, with a
 * {@link TransportError} where it can tell why. It follows no redirects and repeats nothing.
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Closes idle connections. */
  close?(): void;
}

/** Why there is no answer: no connection was made, no answer came in time, or it broke. */
export type TransportFailure = "connect" | "timeout" | "broken";

/** There is no complete answer. */
export class TransportError extends Error {
  override name = "TransportError";
  readonly kind: TransportFailure;

  constructor(kind: TransportFailure, options?: ErrorOptions) {
    super(kind, options);
    this.kind = kind;
  }
}

/** The transport on `node:http` or `node:https`, for the server at `base`. */
export class HttpTransport implements Transport {
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #host: string;
  readonly #port: string;

  constructor(base: URL) {
    const secure = base.protocol === "https:";
    const options = { keepAlive: true, timeout: IDLE_TIMEOUT_MS, scheduling: "lifo" as const };
    this.#agent = secure ? new https.Agent(options) : new http.Agent(options);
    this.#request = secure ? https.request : http.request;
    this.#host = base.hostname.replace(/^\[(.*)\]$/, "$1");
    this.#port = base.port || (secure ? "443" : "80");
  }

  send(request: TransportRequest): Promise<TransportAnswer> {
    return new Promise((resolve, reject) => {
      new Exchange(request, resolve, reject).begin(
        this.#request({
          agent: this.#agent,
          host: this.#host,
          port: this.#port,
          method: request.method,
          path: request.path,
          headers: request.headers,
        }),
      );
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One request and its answer. */
class Exchange {
  readonly #request: TransportRequest;
  readonly #resolve: (answer: TransportAnswer) => void;
  readonly #reject: (error: Error) => void;
  #call: http.ClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #connecting = false;

  constructor(
    request: TransportRequest,
    resolve: (answer: TransportAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(call: http.ClientRequest): void {
    this.#call = call;
    const { body, timeoutMs, signal } = this.#request;
    this.#timer = setTimeout(this.#late, Math.min(timeoutMs, TIMER_MAX_MS));
    call.on("socket", this.#connect);
    call.on("response", this.#receive);
    call.on("error", this.#broken);
    if (signal !== undefined) {
      if (signal.aborted) {
        this.#hangUp();
      } else {
        signal.addEventListener("abort", this.#hangUp, { once: true });
      }
    }
    call.end(body);
  }

  readonly #connect = (socket: Socket): void => {
    if (!socket.connecting) {
      return;
    }
    this.#connecting = true;
    const timer = setTimeout(() => socket.destroy(), CONNECT_TIMEOUT_MS);
    socket.once("connect", () => {
      this.#connecting = false;
      clearTimeout(timer);
    });
    socket.once("close", () => clearTimeout(timer));
  };

  readonly #receive = (answer: http.IncomingMessage): void => {
    const parts: Buffer[] = [];
    answer.on("data", (part: Buffer) => parts.push(part));
    answer.on("error", this.#broken);
    answer.on("end", () => {
      this.#end();
      const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const { statusCode: status = 0, headers } = answer;
      this.#resolve({ status, headers, body: bytes.toString("utf8") });
    });
  };

  readonly #broken = (cause: Error): void => {
    const kind = this.#connecting || isConnect(cause) ? "connect" : "broken";
    this.#fail(new TransportError(kind, { cause }));
  };

  readonly #late = (): void => {
    this.#fail(new TransportError(this.#connecting ? "connect" : "timeout"));
    this.#call?.destroy();
  };

  readonly #hangUp = (): void => {
    this.#fail(new TransportError("broken", { cause: this.#request.signal?.reason }));
    this.#call?.destroy();
  };

  #fail(error: TransportError): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#hangUp);
  }
}

const CONNECT_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
]);

function isConnect(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === "connect" || CONNECT_CODES.has(code ?? "");
}
