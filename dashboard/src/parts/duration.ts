/** Durations in words. */
const UNITS: [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** At most two units, `1 h 20 min`; below a second `40 ms`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [[unit, size], next] = [UNITS[at] ?? ["s", 1_000], UNITS[at + 1]];
  const whole = Math.floor(ms / size);
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  if (!next && whole < 10) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  return rest > 0 && next ? `${whole} ${unit} ${rest} ${next[0]}` : `${whole} ${unit}`;
}
