/** Lengths of time as a caller writes them: milliseconds, or a text such as `"5m"`. */

import { SettingsError } from "./errors.js";

/** Milliseconds, or a number with a unit: `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"7d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** No time is longer than this: a hundred years are for ever. */
const TIME_MAX_MS = 100 * 365 * 86_400_000;
/** Node.js fires timers at once that are longer than this. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/**
 * @internal Whole milliseconds; `what` is the option's name in an error.
 * @throws {@link SettingsError} for what is no length of time.
 */
export function milliseconds(duration: Duration, what: string): number {
  const ms = typeof duration === "string" ? read(duration) : duration;
  if (typeof ms !== "number" || !(ms >= 0)) {
    throw new SettingsError(
      `${what} is ${shown(duration)}: give milliseconds, or a text such as "30s" or "5m"`,
    );
  }
  return Math.min(Math.round(ms), TIME_MAX_MS);
}

/** NaN and the infinities are null to JSON. */
function shown(duration: unknown): string {
  return typeof duration === "number" ? String(duration) : JSON.stringify(duration);
}

function read(text: string): number | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  return digits === undefined || unit === undefined
    ? undefined
    : Number(digits) * (UNIT_MS[unit] ?? Number.NaN);
}

/** @internal Waits; a pause that a caller awaits keeps the process alive. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(ms, TIMER_MAX_MS));
  });
}
