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

/**
 * Loads by `load`, anew when `key` changes, and again after changes on the server: one load at a
 * time, so that a slow server is not asked faster than it answers.
 */
export function useResource<T>(key: string, load: () => Promise<T>): Resource<T> {
  const state = useSignal<{ key: string; data?: T; error?: Error }>({ key });
  const turn = useRef(0);
  const loading = useRef(false);
  const seen = useRef(tick.peek());
  const latest = useRef({ key, load });
  latest.current = { key, load };

  const settle = (asked: string, found: { data?: T; error?: Error }) => {
    const data = found.data ?? (state.value.key === asked ? state.value.data : undefined);
    state.value = {
      key: asked,
      ...(data !== undefined && { data }),
      ...(found.error && { error: found.error }),
    };
    if (found.error instanceof Unreachable) hearing.value = "away";
    else if (hearing.value === "away") hearing.value = "asking";
  };
  // Takes the place of a load that is under way: its answer may be older than what was just done.
  const reload = () => {
    turn.current += 1;
    const mine = turn.current;
    const asked = latest.current;
    loading.current = true;
    const ended = (found: { data?: T; error?: Error }) => {
      if (mine !== turn.current) return;
      loading.current = false;
      settle(asked.key, found);
      follow();
    };
    asked.load().then(
      (data) => ended({ data }),
      (error: Error) => ended({ error }),
    );
  };
  const follow = () => {
    if (loading.current || seen.current === tick.peek()) return;
    seen.current = tick.peek();
    reload();
  };
  useEffect(() => {
    seen.current = tick.peek();
    reload();
    return () => {
      turn.current += 1;
      loading.current = false;
    };
  }, [key]);
  useSignalEffect(() => {
    void tick.value;
    follow();
  });
  const { value } = state;
  const mine = value.key === key;
  return { data: mine ? value.data : undefined, error: mine ? value.error : undefined, reload };
}
