/** Which errors are worth another attempt. Pure. */

import { retryAfterMs } from "../retry.js";

/** Links of a chain of causes that are looked at; a chain that bites its own tail ends there. */
const CHAIN_LINKS_MAX = 32;

/** Decides whether another attempt may help, for errors that do not say so themselves. */
export type Retryable = (error: unknown) => boolean;

/**
 * Whether another attempt may help, as a worker decides it unless told otherwise.
 *
 * The first HTTP status in the chain of causes decides, as the common clients carry it (`status`,
 * `statusCode`, `response.status`: wrappers of fetch, axios, got, undici, Stripe, the AWS SDK, and
 * the errors of this package): 408, 409, 423, 425, 429 and 5xx may pass, other 4xx will not.
 * Everything else may pass: connections that broke, timeouts, and errors that nobody knows.
 */
export function retryable(error: unknown): boolean {
  for (const link of chain(error)) {
    const status = statusOf(link);
    if (status !== undefined) {
      return status >= 500 || [408, 409, 423, 425, 429].includes(status);
    }
  }
  return true;
}

/**
 * An error and its causes, outermost first; of an AggregateError those of all its errors. `links`
 * are the members in which a cause may be.
 */
export function* chain(
  error: unknown,
  links: readonly string[] = ["cause"],
): Generator<unknown, void, undefined> {
  const waiting = [error];
  for (let seen = 0; seen < CHAIN_LINKS_MAX && waiting.length > 0; seen += 1) {
    const link = waiting.shift();
    if (link === undefined || link === null) {
      continue;
    }
    yield link;
    waiting.push(...links.map((name) => member(link, name)));
    const errors = isA(link, AggregateError) ? member(link, "errors") : undefined;
    waiting.push(...members(errors));
  }
}

/** The first `Retry-After` in the chain of causes, in milliseconds. */
export function askedRetryAfter(error: unknown, now: number): number | undefined {
  for (const link of chain(error)) {
    for (const headers of [member(member(link, "response"), "headers"), member(link, "headers")]) {
      const asked = retryAfterMs(header(headers), now);
      if (asked !== undefined) {
        return asked;
      }
    }
  }
  return undefined;
}

/** The first elements of what may be a list. */
export function members(value: unknown): unknown[] {
  try {
    return Array.isArray(value) ? value.slice(0, CHAIN_LINKS_MAX) : [];
  } catch {
    return [];
  }
}

/** Whether it is of a class; what cannot be asked, such as a revoked Proxy, is of none. */
export function isA<T>(value: unknown, kind: abstract new (...of: never[]) => T): value is T {
  try {
    return value instanceof kind;
  } catch {
    return false;
  }
}

/** A member of whatever it is; `undefined` where there is none, or reading it throws. */
export function member(value: unknown, name: string): unknown {
  try {
    return (typeof value === "object" && value !== null) || typeof value === "function"
      ? (value as Record<string, unknown>)[name]
      : undefined;
  } catch {
    return undefined;
  }
}

function statusOf(error: unknown): number | undefined {
  const response = member(error, "response");
  const found = [
    member(error, "status"),
    member(error, "statusCode"),
    member(response, "status"),
    member(response, "statusCode"),
    member(member(error, "$metadata"), "httpStatusCode"),
  ];
  return found.find(
    (status): status is number =>
      typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600,
  );
}

/** `Retry-After` in the headers of fetch, or in an object of headers. */
function header(headers: unknown): string | undefined {
  const get = member(headers, "get");
  try {
    const value: unknown =
      typeof get === "function"
        ? get.call(headers, "retry-after")
        : (member(headers, "retry-after") ?? member(headers, "Retry-After"));
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  } catch {
    return undefined;
  }
}
