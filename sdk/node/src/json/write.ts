/**
 * A value as JSON text, without a silent change: what JSON cannot carry is an error that names the
 * path, where `JSON.stringify` writes `null`, `{}` or nothing.
 *
 * Left out without an error: members of an object that are `undefined`. Taken as they present
 * themselves: objects with a `toJSON`, dates among them.
 */

import { randomUUID } from "node:crypto";
import { InvalidValueError } from "../errors.js";

/** Deeper than this is taken for a circle; the server takes 64 levels. */
const DEPTH_MAX = 1_000;

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
  if (typeof value === "string") {
    return JSON.stringify(value);
  }
  const found: Found = { bigint: false };
  const fault = faultOf(value, 0, found);
  if (fault !== undefined) {
    throw new InvalidValueError(what, fault.path, fault.message);
  }
  if (!found.bigint) {
    return JSON.stringify(value);
  }
  if (!bigint) {
    const path = findBigint(value);
    throw new InvalidValueError(
      what,
      path,
      "JSON has no BigInt; make the client with { bigint: true } to send it as an integer",
    );
  }
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === "bigint" ? MARK + inner : inner,
  ).replace(MARKED, "$1");
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
    return here("it goes in a circle, or is nested too deep");
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
  if (isOpaque(value)) {
    return here(`JSON has no ${value.constructor?.name ?? "such value"}`);
  }
  for (const name in value) {
    if (!Object.hasOwn(value, name)) {
      continue;
    }
    const member = (value as Record<string, unknown>)[name];
    const fault = member === undefined ? undefined : faultOf(member, depth + 1, found);
    if (fault !== undefined) {
      return inside(memberStep(name), fault);
    }
  }
  return undefined;
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
    return here(`JSON has no ${value.constructor.name}`);
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
