/**
 * What happens on the server while the page is open. One stream of job changes serves the whole
 * page; bursts are joined, a hidden tab does not listen, and without a stream the page asks again
 * every few seconds.
 */
import { signal } from "@preact/signals";

/** How the page hears of changes. */
export type Hearing = "live" | "asking" | "away";

/** Changes at most this often, each time that something may have changed. */
export const tick = signal(0);
export const hearing = signal<Hearing>("asking");

const JOIN_MS = 1_000;
const ASK_MS = 5_000;

let source: EventSource | undefined;
let joined: ReturnType<typeof setTimeout> | undefined;

/** Says that something may have changed. */
export function changed(): void {
  if (joined !== undefined) return;
  joined = setTimeout(() => {
    joined = undefined;
    if (!document.hidden) tick.value += 1;
  }, JOIN_MS);
}

function open(): void {
  if (source || document.hidden) return;
  source = new EventSource("/v1/events");
  source.onopen = () => {
    hearing.value = "live";
    changed();
  };
  source.onerror = () => {
    // The browser tries again by itself unless it was refused for good.
    hearing.value = "asking";
    if (source?.readyState === EventSource.CLOSED) close();
  };
  source.addEventListener("job", changed);
  source.addEventListener("reset", changed);
}

function close(): void {
  source?.close();
  source = undefined;
}

/** Begins to listen, until the page is gone. */
export function listen(): void {
  open();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return close();
    open();
    tick.value += 1;
  });
  setInterval(() => {
    if (document.hidden || hearing.value === "live") return;
    open();
    tick.value += 1;
  }, ASK_MS);
  // Ages and workers that are heard of no more are no events.
  setInterval(() => !document.hidden && hearing.value === "live" && changed(), 2 * ASK_MS);
}
