/** A question that must be answered before something is done, and the doing of it. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { Problem } from "../api/client.ts";
import { Modal } from "./modal.tsx";
import { sentence } from "./sentence.ts";

export interface Asking {
  title: string;
  /** What the button says that does it. */
  action: string;
  /** It cannot be taken back. */
  grave?: boolean;
  /** Does it; what it throws is shown, and the dialog stays. */
  act: () => Promise<void>;
  /** What follows on what was thrown, where that has several reasons. */
  reasons?: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, action, grave, act, reasons, onClose, children }: Asking) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  // A second click comes before the first has rendered.
  const acting = useRef(false);

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (acting.current) return;
    acting.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await act();
      onClose();
    } catch (thrown) {
      setError(reason(thrown as Error));
    } finally {
      acting.current = false;
      setBusy(false);
    }
  };
  return (
    <Modal labelledBy="dialog-title" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {error && (
          <p role="alert" class="problem">
            {sentence(error)}
          </p>
        )}
        {error && reasons}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button type="submit" class={grave ? "grave" : "main"} disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </Modal>
  );
}

const reason = (error: Error): string =>
  error instanceof Problem && error.status === 401
    ? "You were signed out meanwhile, and nothing was done. Try again once you are signed in."
    : error.message;
