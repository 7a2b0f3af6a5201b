/** Options as a caller gives them: an object, with no name in it that is not known. */

import { SettingsError } from "./errors.js";

/** What a queue and a task are called. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;

/**
 * @internal Refuses options that would be ignored in silence.
 *
 * @param what what they belong to, such as "a worker"
 * @throws {@link SettingsError} for what is no object, and for a name that is not among `known`.
 */
export function refuseUnknown(what: string, options: object, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new SettingsError(`${what} takes its options as an object, { name: value }`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) {
    return;
  }
  throw new SettingsError(`${what} has no option \`${unknown}\`; ${advice(unknown, known)}`);
}

/** @internal What to say about an option that there is not: which was meant, or all there are. */
export function advice(name: string, known: readonly string[]): string {
  // Other letters, as in `idempotency_key`, and then a slip or two, as in `queue` for `queues`.
  const plain = (text: string) => text.toLowerCase().replace(/_|ms$/g, "");
  const other = known.find((option) => plain(option) === plain(name));
  if (other !== undefined) {
    return `it is called \`${other}\``;
  }
  const slips = name.length < 5 ? 1 : 2;
  const near = known.find((option) => distance(option, name) <= slips);
  if (near !== undefined) {
    return `did you mean \`${near}\`?`;
  }
  const all = known.map((option) => `\`${option}\``).join(", ");
  return `there ${known.length === 1 ? "is" : "are"} ${all}`;
}

/** How many letters must be put in, taken out or changed to make one word of the other. */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (const [n, letter] of [...one].entries()) {
    const row = [n + 1];
    for (const [m, its] of [...other].entries()) {
      const changed = (above[m] ?? 0) + (letter === its ? 0 : 1);
      row.push(Math.min(changed, (above[m + 1] ?? 0) + 1, (row[m] ?? 0) + 1));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}

/**
 * @internal Refuses what the server would not take as the name of a queue or a task.
 *
 * @throws {@link SettingsError} with the rule.
 */
export function checkName(what: string, name: unknown): void {
  if (typeof name !== "string" || !NAME.test(name)) {
    const shown = typeof name === "string" ? JSON.stringify(name) : String(name);
    throw new SettingsError(
      `${what} cannot be called ${shown}: a name is 1 to 128 characters of ` +
        "`A-Z a-z 0-9 . _ : / -`, and begins with a letter or a digit",
    );
  }
}
