/**
 * A value as JSON text, without a silent change: what JSON cannot carry is an error that names the
 * path, where `JSON.stringify` writes `null`, `{}` or nothing.
 *
 * Left out without an error: members of an object that are `undefined`. Taken as they present
 * themselves: objects with a `toJSON`, dates among them.
 */

import { randomUUID } from "node:crypto";
import { InvalidValueError } from "../errors.js";

/** Deeper than this may be a circle; the server takes 64 levels. */
const DEPTH_MAX = 1_000;
const TOO_DEEP = "it is nested too deep";
/** Characters that are shown of the path to what is nested too deep. */
const DEEP_PATH_CHARS = 100;

/**
 * A BigInt stands for a moment as a text with this mark, which no text of a program has: it is made
 * anew in each process.
 */
const MARK = `bigint ${randomUUID()} `;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/** Where a value cannot be written, and why. */
interface Fault {
  path: string;
  message: string;
}

/** What a look at a value found. */
interface Found {
  bigint: boolean;
}

/**
 * `value` as JSON text; `undefined` when there is nothing to write. `what` is its name in an error,
 * such as `payload`; `bigint` lets integers of that type pass.
 *
 * @throws {@link InvalidValueError}
 */
export function writeJson(what: string, value: unknown, bigint: boolean): string | undefined {
  if (value === undefined) {
    return undefined;
  }
  return stringify(value, checkJson(what, value, bigint));
}

/**
 * Whether there are integers of the type BigInt in `value`, all of which JSON can carry. With
 * {@link stringify} it is the two halves of {@link writeJson}, for values written together.
 *
 * @throws {@link InvalidValueError}
 */
export function checkJson(what: string, value: unknown, bigint: boolean): boolean {
  const found: Found = { bigint: false };
  const fault = faultOf(value, 0, found);
  if (fault !== undefined) {
    const { path, message } = fault.message === TOO_DEEP ? deepFault(value, fault) : fault;
    throw new InvalidValueError(what, path, message);
  }
  if (found.bigint && !bigint) {
    const path = findBigint(value);
    throw new InvalidValueError(
      what,
      path,
      "JSON has no BigInt; make the client with { bigint: true } to send it as an integer",
    );
  }
  return found.bigint;
}

/** A value that was checked as JSON text; `holdsBigint` is what the check said. */
export function stringify(value: unknown, holdsBigint: boolean): string {
  if (!holdsBigint) {
    return JSON.stringify(value);
  }
  // A program may have given BigInt a `toJSON`, which has been at `inner`, but not at its holder.
  // What the `toJSON` of another object gives is in `inner` alone.
  return JSON.stringify(value, function (this: Record<string, unknown>, key, inner) {
    const own = this[key];
    const exact = typeof own === "bigint" ? own : inner;
    return typeof exact === "bigint" ? MARK + exact : inner;
  }).replace(MARKED, "$1");
}

/** The first thing in `value` that JSON cannot carry. */
function faultOf(value: unknown, depth: number, found: Found): Fault | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : here(`JSON has no ${value}`);
    case "bigint":
      found.bigint = true;
      return undefined;
    case "object":
      return value === null ? undefined : faultOfObject(value, depth, found);
    default:
      return here(`JSON has no ${typeof value}`);
  }
}

function faultOfObject(value: object, depth: number, found: Found): Fault | undefined {
  if (depth > DEPTH_MAX) {
    return here(TOO_DEEP);
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const fault = faultOf(value[index], depth + 1, found);
      if (fault !== undefined) {
        return inside(`[${index}]`, fault);
      }
    }
    return undefined;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") {
    return faultOfSelfMade(value, toJSON, depth, found);
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return faultOf(value.valueOf(), depth + 1, found);
  }
  if (isOpaque(value) || value instanceof Error) {
    return here(`JSON has no ${className(value)}`);
  }
  let isEmpty = true;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) {
      continue;
    }
    isEmpty = false;
    const member = (value as Record<string, unknown>)[name];
    const fault = member === undefined ? undefined : faultOf(member, depth + 1, found);
    if (fault !== undefined) {
      return inside(memberStep(name), fault);
    }
  }
  // A Response, a URLSearchParams, a private class: `{}` is not what they are.
  return isEmpty && !isPlain(value) ? here(`JSON has no ${className(value)}`) : undefined;
}

/** Whether it was written as `{…}`, in whatever realm, or made without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What to call an object that is no plain one. */
function className(value: object): string {
  const { name } = (value.constructor ?? {}) as { name?: unknown };
  return typeof name === "string" && name !== "" && name !== "Object" ? name : "such value";
}

/** An object that says itself what it is in JSON. */
function faultOfSelfMade(
  value: object,
  // biome-ignore lint/complexity/noBannedTypes: whatever function the object has
  toJSON: Function,
  depth: number,
  found: Found,
): Fault | undefined {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? here("the date is invalid") : undefined;
  }
  if (isOpaque(value)) {
    return here(`JSON has no ${className(value)}`);
  }
  return faultOf(toJSON.call(value, ""), depth + 1, found);
}

/** Things that `JSON.stringify` writes as something that nobody meant. */
function isOpaque(value: object): boolean {
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return false;
  }
  return (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    value instanceof Promise ||
    value instanceof RegExp
  );
}

/** What is wrong with a value that is nested too deep: most often it goes in a circle. */
function deepFault(value: unknown, fault: Fault): Fault {
  const path = circleOf(value, new Set(), 0);
  return path === undefined
    ? { path: `${fault.path.slice(0, DEEP_PATH_CHARS)}…`, message: fault.message }
    : { path, message: "it refers to itself" };
}

/** The path to the first member that is an object in which it is. */
function circleOf(value: unknown, above: Set<object>, depth: number): string | undefined {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) {
    return undefined;
  }
  if (above.has(value)) {
    return "";
  }
  above.add(value);
  const { toJSON } = value as { toJSON?: unknown };
  const own: unknown = typeof toJSON === "function" ? toJSON.call(value, "") : value;
  for (const [name, member] of Object.entries(own ?? {})) {
    const rest = circleOf(member, above, depth + 1);
    if (rest !== undefined) {
      return join(Array.isArray(own) ? `[${name}]` : memberStep(name), rest);
    }
  }
  above.delete(value);
  return undefined;
}

function findBigint(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return "";
  }
  for (const [name, member] of Object.entries(value)) {
    const found: Found = { bigint: typeof member === "bigint" };
    faultOf(member, 0, found);
    if (found.bigint) {
      const step = Array.isArray(value) ? `[${name}]` : memberStep(name);
      return join(step, findBigint(member));
    }
  }
  return "";
}

function here(message: string): Fault {
  return { path: "", message };
}

function inside(step: string, fault: Fault): Fault {
  return { path: join(step, fault.path), message: fault.message };
}

/** A step into an object: a plain name, or anything else in brackets. */
function memberStep(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? name : `[${JSON.stringify(name)}]`;
}

function join(step: string, rest: string): string {
  return rest === "" || rest.startsWith("[") ? step + rest : `${step}.${rest}`;
}
