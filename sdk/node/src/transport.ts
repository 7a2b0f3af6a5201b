/** What carries requests to the server; `http/transport` holds the one that is used by default. */

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
