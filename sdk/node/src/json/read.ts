/**
 * JSON text as a value, without a silent change of integers.
 *
 * A JavaScript number is exact up to 2^53. An integer beyond becomes a `bigint` where the caller
 * asked for them, and is an error with its path otherwise; so is a number beyond what a number
 * holds at all. `JSON.parse` does the work: only a text in which such a number may be, which shows
 * in what comes out, is read a second time.
 */

import { InvalidValueError } from "../errors.js";

/** A text, or a number outside of one. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A number stands for a moment as a text that begins with this, which no server sends. */
const MARK = "\u0000";

/** A number that JavaScript's numbers would round. */
export class Unsafe {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** A value, and whether there are {@link Unsafe} numbers in it. */
export interface Read {
  value: unknown;
  unsafe: boolean;
}

/**
 * Reads `text`. With `bigint`, integers beyond 2^53 are bigints; other numbers that would be
 * rounded, or all of them without `bigint`, stand as {@link Unsafe}.
 *
 * @throws SyntaxError for what is no JSON.
 */
export function readJson(text: string, bigint: boolean): Read {
  const value: unknown = JSON.parse(text);
  if (!holdsLarge(value)) {
    return { value, unsafe: false };
  }
  const marked = text.replace(TEXT_OR_NUMBER, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"\\u0000${token}"`,
  );
  const found = { unsafe: false };
  return { value: unmark(JSON.parse(marked), bigint, found), unsafe: found.unsafe };
}

/** The same as {@link readJson} for a value of its own, named `what` in an error. */
export function readExact(what: string, text: string, bigint: boolean): unknown {
  const { value, unsafe } = readJson(text, bigint);
  if (unsafe) {
    throw unsafeError(what, value);
  }
  return value;
}

/** The error about the first number in `value` that would be rounded; there must be one. */
export function unsafeError(what: string, value: unknown): InvalidValueError {
  const [path, digits] = findUnsafe(value, "") ?? ["", "a number"];
  const integer = /^-?\d+$/.test(digits);
  return new InvalidValueError(
    what,
    path,
    integer
      ? `${digits} would be rounded; make the client with { bigint: true } to get it exactly`
      : `${digits} is beyond what a number holds`,
  );
}

/** Whether there is an {@link Unsafe} number in `value`. */
export function holdsUnsafe(value: unknown): boolean {
  return findUnsafe(value, "") !== undefined;
}

/** Whether there is a number that may have been rounded. */
function holdsLarge(value: unknown): boolean {
  if (typeof value === "number") {
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER;
  }
  if (typeof value !== "object" || value === null) {
    return false;
  }
  if (Array.isArray(value)) {
    for (const member of value) {
      if (holdsLarge(member)) {
        return true;
      }
    }
    return false;
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === "number" || typeof member === "object") {
      if (holdsLarge(member)) {
        return true;
      }
    }
  }
  return false;
}

function isExact(token: string): boolean {
  const number = Number(token);
  const integer = /^-?\d+$/.test(token);
  return integer ? Number.isSafeInteger(number) : Number.isFinite(number);
}

function unmark(value: unknown, bigint: boolean, found: { unsafe: boolean }): unknown {
  if (typeof value === "string") {
    if (!value.startsWith(MARK)) {
      return value;
    }
    const digits = value.slice(MARK.length);
    if (bigint && /^-?\d+$/.test(digits)) {
      return BigInt(digits);
    }
    found.unsafe = true;
    return new Unsafe(digits);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  for (const [name, member] of Object.entries(value)) {
    const exact = unmark(member, bigint, found);
    if (exact !== member) {
      // An ordinary assignment to `__proto__` would do something else.
      Object.defineProperty(value, name, {
        value: exact,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
  }
  return value;
}

function findUnsafe(value: unknown, path: string): [string, string] | undefined {
  if (value instanceof Unsafe) {
    return [path, value.digits];
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : path === "" ? name : `.${name}`;
    const found = findUnsafe(member, path + step);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
