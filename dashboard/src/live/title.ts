/** The name of what is shown, in the window's title: many tabs are told apart by it. */
import { effect, signal } from "@preact/signals";

/** Nothing on the overview. */
export const title = signal("");

/** Follows it from now on. */
export function applyTitle(): void {
  effect(() => {
    document.title = title.value ? `${title.value} · Halyard` : "Halyard";
  });
}
