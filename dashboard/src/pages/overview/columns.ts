/** The numbers that the chart draws. */
import type { Stats } from "../../api/calls.ts";

const MINUTE_S = 60;
const DAY_MINUTES = 24 * 60;

/** Columns of the chart: seconds, completed, failed. Minutes without an event are zeros. */
export function columns(minutes: Stats["minutes"], nowS: number): [number[], number[], number[]] {
  const last = Math.floor(nowS / MINUTE_S) * MINUTE_S;
  const by = new Map(minutes.map((it) => [Math.floor(Date.parse(it.at) / 1_000), it]));
  const at = Array.from({ length: DAY_MINUTES }, (_, n) => last - (DAY_MINUTES - 1 - n) * MINUTE_S);
  return [at, at.map((s) => by.get(s)?.completed ?? 0), at.map((s) => by.get(s)?.failed ?? 0)];
}
