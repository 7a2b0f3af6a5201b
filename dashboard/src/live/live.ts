/**
 * What happens on the server while the page is open. One stream of job changes serves the whole
 * page; bursts are joined, a hidden tab does not listen, and without a stream the page asks again
 * every few seconds. While a key is wanted nothing is asked; after signing in it goes on.
 */
import { effect, signal } from "@preact/signals";

import { ask, locked } from "./access.ts";

/** How the page hears of changes. */
export type Hearing = "live" | "asking" | "away";

/** Changes at most this often, each time that something may have changed. */
export const tick = signal(0);
export const hearing = signal<Hearing>("asking");

const JOIN_MS = 1_000;
const ASK_MS = 5_000;

let source: EventSource | undefined;
let joined: ReturnType<typeof setTimeout> | undefined;

const idle = (): boolean => document.hidden || locked.peek();

/** Says that something may have changed. */
export function changed(): void {
  if (joined !== undefined) return;
  joined = setTimeout(() => {
    joined = undefined;
    if (!idle()) tick.value += 1;
  }, JOIN_MS);
}

function open(): void {
  if (source || idle()) return;
  source = new EventSource("/v1/events");
  source.onopen = () => {
    hearing.value = "live";
    // It may have been started anew, with other settings.
    void ask();
    changed();
  };
  source.onerror = () => {
    // The browser tries again by itself unless it was refused for good. Whether the server answers
    // at all is for the next call to say.
    if (hearing.peek() === "live") hearing.value = "asking";
    changed();
    if (source?.readyState === EventSource.CLOSED) close();
  };
  source.addEventListener("job", changed);
  source.addEventListener("reset", changed);
}

function close(): void {
  source?.close();
  source = undefined;
}

/** Begins to listen; what it gives ends that. */
export function listen(): () => void {
  const turn = () => {
    if (idle()) return close();
    open();
    tick.value = tick.peek() + 1;
  };
  const unlocked = effect(() => {
    void locked.value;
    turn();
  });
  document.addEventListener("visibilitychange", turn);
  const asking = setInterval(() => hearing.peek() !== "live" && turn(), ASK_MS);
  // Ages and workers that are heard of no more are no events.
  const ageing = setInterval(() => !idle() && hearing.peek() === "live" && changed(), 2 * ASK_MS);
  return () => {
    unlocked();
    document.removeEventListener("visibilitychange", turn);
    clearInterval(asking);
    clearInterval(ageing);
    close();
  };
}
