/** Something of the server's that a page shows, kept up to date. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { Unreachable } from "../api/client.ts";
import { hearing, tick } from "./live.ts";

export interface Resource<T> {
  /** The newest that was loaded; stays while newer is loaded or cannot be had. */
  data: T | undefined;
  error: Error | undefined;
  /** Loads it at once. */
  reload: () => void;
}

/** Loads by `load`, anew when `key` changes, and again on every change on the server. */
export function useResource<T>(key: string, load: () => Promise<T>): Resource<T> {
  const state = useSignal<{ key: string; data?: T; error?: Error }>({ key });
  const turn = useRef(0);
  const latest = useRef(load);
  latest.current = load;

  const reload = () => {
    turn.current += 1;
    const mine = turn.current;
    const set = (found: { data?: T; error?: Error }) => {
      if (mine !== turn.current) return;
      const data = found.data ?? (state.value.key === key ? state.value.data : undefined);
      state.value = {
        key,
        ...(data !== undefined && { data }),
        ...(found.error && { error: found.error }),
      };
      if (found.error instanceof Unreachable) hearing.value = "away";
      else if (hearing.value === "away") hearing.value = "asking";
    };
    latest.current().then(
      (data) => set({ data }),
      (error: Error) => set({ error }),
    );
  };
  useEffect(() => reload(), [key]);
  const again = useRef(reload);
  again.current = reload;
  useSignalEffect(() => {
    if (tick.value > 0) again.current();
  });
  const { value } = state;
  const mine = value.key === key;
  return { data: mine ? value.data : undefined, error: mine ? value.error : undefined, reload };
}
