/** A button that copies a text. */
import { useState } from "preact/hooks";

export function Copy({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState<string>();
  const copy = async () => {
    try {
      // A browser lends its clipboard to pages with TLS, or of this machine.
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setDone("Copied");
    } catch {
      setDone("Not allowed here");
    }
    setTimeout(() => setDone(undefined), 1_500);
  };
  return (
    <button type="button" class="small" aria-label={label} onClick={() => void copy()}>
      {done ?? "Copy"}
    </button>
  );
}
