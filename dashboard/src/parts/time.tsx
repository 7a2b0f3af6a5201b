/** Times and durations, as a person reads them. */
import { signal } from "@preact/signals";

import { duration } from "./duration.ts";

/** The time, to the second, in milliseconds. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

/** How far away a time is; the time itself is its title. */
export function Ago({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="quiet">–</span>;
  const ms = now.value - Date.parse(at);
  const words =
    Math.abs(ms) < 1_000 ? "now" : ms > 0 ? `${duration(ms)} ago` : `in ${duration(-ms)}`;
  return (
    <time dateTime={at} title={at}>
      {words}
    </time>
  );
}

/** A time of day and its date in the reader's own zone. */
export function At({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })}
    </time>
  );
}

/** How long something took or takes. */
export function Took({
  from,
  to,
}: {
  from: string | null | undefined;
  to: string | null | undefined;
}) {
  if (!from) return <span class="quiet">–</span>;
  return <>{duration((to ? Date.parse(to) : now.value) - Date.parse(from))}</>;
}
