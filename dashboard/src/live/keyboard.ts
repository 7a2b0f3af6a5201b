/** Keys that act, where nobody is writing. A page says what its own do. */
import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { keysAct } from "./theme.ts";

/** Calls the handler of a key. Handlers may change from one rendering to the next. */
export function useKeys(handlers: Record<string, () => void>): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // One that was for somebody is for nobody else.
      if (event.defaultPrevented) return;
      if (!keysAct.value || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      if (event.target instanceof HTMLElement && event.target.closest(takes(event.key))) return;
      const handler = latest.current[event.key];
      if (!handler) return;
      event.preventDefault();
      handler();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Whatever takes the key itself: a field what is written, a link or button its Enter. */
const takes = (key: string): string => {
  const fields = "input:not([type=checkbox]), textarea, select";
  return key === "Enter" ? `${fields}, a, button, summary` : fields;
};

/** What a field does when a key is pressed in it: Escape leaves it, so that keys act again. */
export function leaveField(event: TargetedKeyboardEvent<HTMLInputElement>): void {
  if (event.key === "Escape") event.currentTarget.blur();
}

/** What the keys do, for whoever asks. */
export const KEYS: readonly [string, string][] = [
  ["/", "To the first field: filter, search, or look up"],
  ["j  k", "Next, and previous job"],
  ["Enter", "Open the job"],
  ["x", "Select the job"],
  ["r", "Retry the selected jobs, or the job of this page; in a list without any, open the job"],
  ["Esc", "Leave a field, close a dialog"],
  ["?", "These keys"],
];
