/** From what a handler did to what is reported about it. Pure. */

import { InvalidValueError } from "../errors.js";
import {
  AlreadyInProgressError,
  NonRetryableError,
  OutcomeUnknownError,
  RetryAfterError,
  SnoozeError,
} from "../failure.js";
import { writeJson } from "../json/write.js";
import { askedRetryAfter, chain, isA, member, type Retryable, retryable } from "./retryable.js";

/** What is reported of a thrown value that answers every question with an error. */
const UNSHOWABLE = "the handler threw something that cannot be shown";
/** Bytes of a message and of a stack that are sent; the server keeps no more. */
const MESSAGE_BYTES_MAX = 8 * 1024;
const STACK_BYTES_MAX = 32 * 1024;
/** Characters of a result that are sent, to let the server judge it by its own limit. */
const RESULT_CHARS_MAX = 4 * 1024 * 1024;
/** A job is put off for no longer than this while another attempt is at it. */
const IN_PROGRESS_MAX_MS = 60_000;
/** What the server takes for a snooze. */
const SNOOZE_MIN_MS = 1_000;
const SNOOZE_MAX_MS = 30 * 86_400_000;

/** How a handler ended. */
export type Ending =
  | { readonly kind: "completed"; readonly result: string | undefined }
  | ({ readonly kind: "failed" } & Failure)
  | { readonly kind: "snoozed"; readonly delayMs: number }
  | { readonly kind: "dropped" };

/** How a handler failed. */
export interface Failure {
  readonly error: FailureText;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Its handler had completed the job in a transaction of its own. */
  readonly completedIn?: boolean;
}

/** What is told of an error. */
export interface FailureText {
  readonly type: string;
  readonly message: string;
  readonly stack: string | undefined;
}

/** The ending of a handler that returned after `completeIn`, without a commit. */
export const UNCOMMITTED: Ending = {
  kind: "failed",
  error: {
    type: "NotCommitted",
    message: "the handler returned, and its transaction with completeIn was not committed",
    stack: undefined,
  },
  retryable: true,
  retryAfterMs: undefined,
  completedIn: true,
};

/** The ending that a returned value is; one that is no JSON, or far too large, is a failure. */
export function judgeResult(value: unknown, bigint: boolean): Ending {
  let message: string;
  try {
    const result = writeJson("result", value, bigint);
    if (result === undefined || result.length <= RESULT_CHARS_MAX) {
      return { kind: "completed", result };
    }
    message = `the result has ${result.length} characters`;
  } catch (error) {
    message = messageOf(error);
  }
  const error = {
    type: "InvalidResult",
    message: cut(message, MESSAGE_BYTES_MAX),
    stack: undefined,
  };
  return { kind: "failed", error, retryable: false, retryAfterMs: undefined };
}

/** The ending that a thrown value is. Never throws, whatever that value does when it is asked. */
export function judge(error: unknown, decide: Retryable): Ending {
  try {
    return judgeThrown(error, decide);
  } catch {
    const text = { type: "Error", message: UNSHOWABLE, stack: undefined };
    return { kind: "failed", error: text, retryable: true, retryAfterMs: undefined };
  }
}

function judgeThrown(error: unknown, decide: Retryable): Ending {
  const links = [...chain(error)];
  for (const link of links) {
    if (isA(link, SnoozeError)) {
      return snoozed(link.delay);
    }
    if (isA(link, AlreadyInProgressError)) {
      return snoozed(Math.min(link.delay, IN_PROGRESS_MAX_MS));
    }
  }
  const has = (kind: new (...of: never[]) => Error) => links.some((link) => isA(link, kind));
  const useless = has(NonRetryableError) || has(InvalidValueError);
  const asked = links.find((link) => isA(link, RetryAfterError))?.delay;
  const wished = asked !== undefined || has(OutcomeUnknownError);
  return {
    kind: "failed",
    error: textOf(error, links),
    retryable: !useless && (wished || decides(decide, error)),
    retryAfterMs: useless ? undefined : (asked ?? askedRetryAfter(error, Date.now())),
  };
}

/** A rule of the program's that fails itself is none, nor is one that answers with a promise. */
function decides(decide: Retryable, error: unknown): boolean {
  try {
    const said: unknown = decide(error);
    if (said instanceof Promise) {
      // It may reject, and nobody else listens.
      said.catch(() => {});
      return retryable(error);
    }
    return Boolean(said);
  } catch {
    return retryable(error);
  }
}

function snoozed(delayMs: number): Ending {
  const within = Math.min(Math.max(Math.round(delayMs), SNOOZE_MIN_MS), SNOOZE_MAX_MS);
  return { kind: "snoozed", delayMs: within };
}

function textOf(error: unknown, links: readonly unknown[]): FailureText {
  const name = member(error, "name");
  const own = member(member(error, "constructor"), "name");
  // Many classes do not name themselves, those of Stripe's client for instance.
  const names = name === "Error" ? [own, name] : [name, own];
  const type = [...names, typeof error].find((text) => typeof text === "string" && text !== "");
  let stack = stackOf(error);
  let last = messageOf(error);
  const message = last;
  for (const link of links.slice(1)) {
    const cause = messageOf(link);
    // An error that only wraps another says the same twice.
    if (cause !== last && stack.length < STACK_BYTES_MAX) {
      const told = cut(stackOf(link) || cause, STACK_BYTES_MAX);
      stack += `${stack === "" ? "" : "\n"}caused by: ${told}`;
    }
    last = cause;
  }
  return {
    type: cut(String(type ?? "Error"), 256),
    message: cut(message, MESSAGE_BYTES_MAX),
    stack: stack === "" ? undefined : cut(stack, STACK_BYTES_MAX),
  };
}

function stackOf(error: unknown): string {
  const stack = member(error, "stack");
  return typeof stack === "string" ? cut(stack, STACK_BYTES_MAX) : "";
}

/** What there is to say about anything that was thrown. */
function messageOf(error: unknown): string {
  const message = member(error, "message");
  if (typeof message === "string") {
    return message;
  }
  try {
    return typeof error === "object" && error !== null && !(error instanceof Error)
      ? `the handler threw ${JSON.stringify(error)}`
      : String(error);
  } catch {
    return UNSHOWABLE;
  }
}

/** No more than so many bytes of UTF-8, no half of a character, and no lone surrogates. */
function cut(text: string, bytesMax: number): string {
  // One character takes at least one byte.
  const start = wellFormed(text.slice(0, bytesMax));
  if (Buffer.byteLength(start) <= bytesMax) {
    return start;
  }
  return Buffer.from(start)
    .subarray(0, bytesMax)
    .toString("utf8")
    .replace(/\ufffd$/, "");
}

function wellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}
