/** What becomes of a record when the work failed. Pure. */

import { JobAbortedError } from "../errors.js";
import { OutcomeUnknownError } from "../failure.js";
import type { Job } from "../job.js";
import { chain, isA, member } from "../worker/retryable.js";

/**
 * Errors of a request that was sent and whose answer was lost, as Node.js, undici, axios and
 * nodemailer name them.
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
]);
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
  if (links.some((link) => member(link, "syscall") === "connect")) {
    return links.some((link) => isA(link, OutcomeUnknownError));
  }
  return links.some(
    (link) =>
      isA(link, OutcomeUnknownError) ||
      isA(link, JobAbortedError) ||
      LOST.has(member(link, "code")) ||
      ABORTED.has(member(link, "name")) ||
      isHalfRead(link),
  );
}

/** An answer of which axios got the beginning only: it has no response, as a refusal has. */
function isHalfRead(error: unknown): boolean {
  return member(error, "code") === "ERR_BAD_RESPONSE" && member(error, "response") === undefined;
}
