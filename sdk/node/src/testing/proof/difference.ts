/** Where a world differs from the one of the clean run. Pure. */

import { writeJson } from "../../json/write.js";

/** One member of the world that is not as it should be. */
export interface Difference {
  /** Its name; `undefined` when the world has no members. */
  readonly effect: string | undefined;
  readonly expected: unknown;
  readonly got: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** Every member that differs, in the order of their names. */
export function differences(expected: unknown, got: unknown): Difference[] {
  if (!isObject(expected) || !isObject(got)) {
    return equal(expected, got) ? [] : [{ effect: undefined, expected, got }];
  }
  const names = [...new Set([...Object.keys(expected), ...Object.keys(got)])].sort();
  return names
    .map((effect) => ({
      effect,
      expected: own(expected, effect) ?? null,
      got: own(got, effect) ?? null,
    }))
    .filter((member) => !equal(member.expected, member.got));
}

/** What is different about an effect, in words: "`charges` has 2 rows, 1 was expected". */
export function inWords(effect: string, expected: unknown, got: unknown): string {
  if (Array.isArray(expected) && Array.isArray(got) && expected.length !== got.length) {
    const rows = got.length === 1 ? "row" : "rows";
    const was = expected.length === 1 ? "was" : "were";
    return `${effect} has ${got.length} ${rows}, ${expected.length} ${was} expected`;
  }
  const deepest = goDown("", expected, got);
  const place = deepest.path === "" ? "" : ` at \`${deepest.path}\``;
  return `${effect} is ${text(deepest.got)}${place}, ${text(deepest.expected)} was expected`;
}

/** A value as JSON. */
export function text(value: unknown): string {
  return writeJson("world", value, true) ?? "null";
}

/** Whether two values are the same JSON: members in any order. */
export function equal(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((one, place) => equal(one, right[place]));
  }
  if (!isObject(left) || !isObject(right)) {
    return left === right;
  }
  const names = Object.keys(left);
  const members = (name: string) => Object.hasOwn(right, name) && equal(left[name], right[name]);
  return names.length === Object.keys(right).length && names.every(members);
}

/** The first place that differs, as a JSON pointer, and what is there. */
function goDown(
  path: string,
  expected: unknown,
  got: unknown,
): { path: string; expected: unknown; got: unknown } {
  const list = Array.isArray(expected) && Array.isArray(got) && expected.length === got.length;
  if (list || (isObject(expected) && isObject(got))) {
    const [wanted, found] = [expected as Members, got as Members];
    for (const name of Object.keys(wanted)) {
      if (Object.hasOwn(found, name) && !equal(wanted[name], found[name])) {
        const step = name.replaceAll("~", "~0").replaceAll("/", "~1");
        return goDown(`${path}/${step}`, wanted[name], found[name]);
      }
    }
  }
  return { path, expected, got };
}

function own(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
