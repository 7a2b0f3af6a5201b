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
  const other = meant(unknown, known);
  const advice = other === undefined ? "" : `; it is called \`${other}\``;
  throw new SettingsError(`${what} has no option \`${unknown}\`${advice}`);
}

/** @internal The known name that was meant by one of other letters, as in `idempotency_key`. */
export function meant(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/_|ms$/g, "");
  return known.find((other) => plain(other) === plain(name));
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
