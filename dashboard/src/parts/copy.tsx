/** A button that copies a text. */
import { useState } from "preact/hooks";

export function Copy({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return (
    <button
      type="button"
      class="small"
      aria-label={label}
      onClick={() => void copy().catch(() => {})}
    >
      {done ? "Copied" : "Copy"}
    </button>
  );
}
