/** What becomes of a record when the work failed. Pure. */

import { JobAbortedError } from "../errors.js";
import { OutcomeUnknownError } from "../failure.js";
import type { Job } from "../job.js";
import { TransportError } from "../transport.js";
import { chain, isA, member, members } from "../worker/retryable.js";

/**
 * Errors of a request that was sent and whose answer was lost, as Node.js, undici, axios and
 * nodemailer name them; and those of a PostgreSQL that ended in the middle.
 */
const LOST = new Set<unknown>([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_CANCELED",
  "ERR_REQUEST_ABORTED",
  "ECONNECTION",
  "ESOCKET",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_ABORTED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
  "57P01",
  "57P02",
]);
/** The same by the beginning: answers that break off, of HTTP/1 and HTTP/2, and of PostgreSQL. */
const LOST_KIND = /^(HPE_|ERR_HTTP2_(STREAM|SESSION_ERROR|GOAWAY)|08)/;
/** The same of clients whose errors have no code: `pg`, `ioredis` and `redis`, by the beginning. */
const LOST_WORDS = [
  "Connection terminated",
  "Query read timeout",
  "Connection is closed.",
  "Command timed out",
  "Reached the max retries per request limit",
  "Socket closed unexpectedly",
  "Socket timeout",
  "Disconnects client",
];
/** What `pg` says of a connection that was not made in time; its cause says that it was ended. */
const NEVER_WORDS = "Connection terminated due to connection timeout";
/** Aborted by a signal, for instance of `AbortSignal.timeout`. */
const ABORTED = new Set<unknown>(["AbortError", "TimeoutError"]);
/** Where an error has its cause; Stripe's client keeps it in `detail`. */
const CAUSES = ["cause", "detail"];

/**
 * Whether the effect may have happened although the work failed: then the record stays.
 *
 * OutcomeUnknownError says so; an aborted attempt was stopped somewhere; a request whose answer was
 * lost may have been carried out. A connection that was never made has done nothing.
 */
export function isUnknown(error: unknown, job: Job | undefined): boolean {
  if (job?.abortedBy !== undefined) {
    return true;
  }
  const links = [...chain(error, CAUSES)];
  // What comes before or beside a connection that was never made counts for itself.
  const connecting = new Set(links.filter(isNever).flatMap(ofConnecting));
  return links.some(
    (link) =>
      isA(link, OutcomeUnknownError) || (isLost(link) && !isNever(link) && !connecting.has(link)),
  );
}

function isLost(error: unknown): boolean {
  const code = member(error, "code");
  const message = member(error, "message");
  return (
    isA(error, JobAbortedError) ||
    isA(error, TransportError) ||
    LOST.has(code) ||
    (typeof code === "string" && LOST_KIND.test(code)) ||
    (typeof message === "string" && LOST_WORDS.some((words) => message.startsWith(words))) ||
    ABORTED.has(member(error, "name")) ||
    isHalfRead(error)
  );
}

/** A connection that was never made, or an error with the code of one that was its cause. */
function isNever(error: unknown): boolean {
  return (
    isConnecting(error) ||
    under(error).some(
      (cause) => isConnecting(cause) && member(cause, "code") === member(error, "code"),
    )
  );
}

function isConnecting(error: unknown): boolean {
  return (
    member(error, "syscall") === "connect" ||
    (isA(error, TransportError) && error.kind === "connect") ||
    member(error, "message") === NEVER_WORDS
  );
}

/** What a transport or a pool says of a connection that it never made is about that alone. */
function ofConnecting(error: unknown): unknown[] {
  return isA(error, TransportError) || member(error, "message") === NEVER_WORDS ? under(error) : [];
}

/** What stands directly under an error in its chain. */
function under(error: unknown): unknown[] {
  const errors = isA(error, AggregateError) ? member(error, "errors") : undefined;
  return [...CAUSES.map((name) => member(error, name)), ...members(errors)];
}

/** An answer of which axios got the beginning only: it has no response, as a refusal has. */
function isHalfRead(error: unknown): boolean {
  return member(error, "code") === "ERR_BAD_RESPONSE" && member(error, "response") === undefined;
}
