/**
 * Answers that are errors, read loosely.
 *
 * The body may come from a newer server with codes unknown here, or from a proxy that speaks no
 * JSON at all; either way the caller gets an error that says as much as there is to say.
 */

import {
  ApiError,
  CheckpointConflictError,
  type FieldError,
  IdempotencyConflictError,
} from "./errors.js";

/** Characters of a body without a problem document that are shown in the error. */
const EXCERPT_CHARS = 200;

/** What to do about codes that a caller meets for want of a setting, or of a newer server. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: "give the server's key as `apiKey` or HALYARD_API_KEY",
  not_found: "perhaps the server is older than this package",
  method_not_allowed: "perhaps the server is older than this package",
  unknown_field: "perhaps the server is older than this package",
};

/** The options whose names on the wire are others. */
const OPTIONS: Readonly<Record<string, string>> = {
  allow_completed: "allowCompleted",
  created_after: "createdAfter",
  created_before: "createdBefore",
  delay_ms: "delay",
  forget_key: "forgetKey",
  idempotency_key: "idempotencyKey",
  idempotency_ttl_ms: "idempotencyTtl",
  if_failed: "ifFailed",
  initial_ms: "initial",
  max_attempts: "maxAttempts",
  max_crashes: "maxCrashes",
  max_ms: "max",
  run_at: "runAt",
  timeout_ms: "timeout",
};
/** A name of the wire, or a value in quotes, in which there is none. */
const NAMES = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|\\b(?:${Object.keys(OPTIONS).join("|")})\\b`, "g");

/** The error that an answer with this status and body stands for. */
export function readProblem(status: number, requestId: string | undefined, body: string): ApiError {
  let problem: unknown;
  try {
    problem = JSON.parse(body);
  } catch {
    // A body that is no JSON is shown as it is.
  }
  return errorOf(status, requestId, problem, body);
}

/** The error that a problem document, if it is one, stands for. */
export function errorOf(
  status: number,
  requestId: string | undefined,
  document: unknown,
  body = "",
): ApiError {
  const problem = (typeof document === "object" ? document : null) ?? {};
  const text = (name: string) => {
    const value = (problem as Record<string, unknown>)[name];
    return typeof value === "string" ? value : "";
  };
  const { errors, changed, checkpoint } = problem as Record<string, unknown>;
  const code = text("code");
  const faults = fieldErrors(errors);
  const told = text("detail") || text("title") || excerpt(body) || "answered without a body";
  const detail = faults.length > 0 ? inOptions(told) : told;
  const advice = ADVICE[code];
  const refusal = {
    status,
    code,
    detail: advice === undefined ? detail : `${detail}; ${advice}`,
    requestId: text("request_id") || (requestId ?? ""),
    job: text("job_id") || undefined,
    errors: faults,
  };
  if (code === "idempotency_key_reused" && refusal.job !== undefined) {
    const pointers = Array.isArray(changed) ? changed.map(String) : null;
    return new IdempotencyConflictError({ ...refusal, job: refusal.job }, pointers);
  }
  if (code === "checkpoint_conflict" && typeof checkpoint === "object" && checkpoint !== null) {
    const { name, value } = checkpoint as { name?: unknown; value?: unknown };
    return new CheckpointConflictError(refusal, String(name), value);
  }
  return new ApiError(refusal);
}

function fieldErrors(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) {
    return [];
  }
  return errors.map((error: Record<string, unknown> | null) => ({
    code: String(error?.code ?? ""),
    pointer: String(error?.pointer ?? ""),
    message: inOptions(String(error?.message ?? "")),
  }));
}

/** `delay_ms is 7` as `delay (delay_ms) is 7`: a caller knows the option, the log the wire. */
function inOptions(text: string): string {
  return text.replace(NAMES, (name) => {
    const option = OPTIONS[name];
    return option === undefined ? name : `${option} (${name})`;
  });
}

function excerpt(body: string): string {
  return body.trim().slice(0, EXCERPT_CHARS);
}
