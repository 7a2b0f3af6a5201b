/** Keys that act, where nobody is writing. A page says what its own do. */
import { useEffect, useRef } from "preact/hooks";

import { keysAct } from "./theme.ts";

/** Calls the handler of a key. Handlers may change from one rendering to the next. */
export function useKeys(handlers: Record<string, () => void>): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!keysAct.value || event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      if (target instanceof HTMLElement && target.closest("input, textarea, select, dialog"))
        return;
      const handler = latest.current[event.key];
      if (!handler) return;
      event.preventDefault();
      handler();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** What the keys do, for whoever asks. */
export const KEYS: readonly [string, string][] = [
  ["/", "Filter, or search"],
  ["j  k", "Next, and previous job"],
  ["Enter", "Open the job"],
  ["x", "Select the job"],
  ["r", "Retry the job, or the selected ones"],
  ["?", "These keys"],
];
