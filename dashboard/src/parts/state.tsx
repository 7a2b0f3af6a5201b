/** A state, told by a sign, a word and a colour: never by the colour alone. */
import type { State as Name } from "../api/calls.ts";

const SIGNS: Record<Name, string> = {
  scheduled: "◷",
  queued: "≡",
  running: "▶",
  retrying: "↻",
  completed: "✓",
  failed: "✕",
  cancelled: "⊘",
};

export function State({ name }: { name: Name }) {
  return (
    <span class={`state state-${name}`}>
      <span aria-hidden="true">{SIGNS[name]}</span> {name}
    </span>
  );
}
