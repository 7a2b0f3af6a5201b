/** The client of the whole program, and what its errors are over HTTP. */

import { ConnectionError, Halyard, IdempotencyConflictError } from "@halyard/node";

// `next dev` loads this module anew after a change; the client outlives that. A request waits less
// than a script would: 2 s for a server that is away, 5 s for an answer. Then its caller is told to
// come again.
globalThis.halyard ??= new Halyard({ retryFor: "2s", timeout: "5s" });

export const halyard = globalThis.halyard;

/** The answer to a call that failed; an error that is not Halyard's goes on. */
export function refusal(error) {
  if (error instanceof IdempotencyConflictError) {
    const { existingJobId: id, changed } = error;
    return Response.json({ error: "charged with other values", id, changed }, { status: 409 });
  }
  if (error instanceof ConnectionError || error.status === 503) {
    const headers = { "Retry-After": "5" };
    return Response.json({ error: "come again in a moment" }, { status: 503, headers });
  }
  if (error.code === "job_not_found") {
    return Response.json({ error: "no such charge" }, { status: 404 });
  }
  throw error;
}
