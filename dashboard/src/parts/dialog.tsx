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
  /** Asks what it does to stop where it stands; it ends soon after. */
  stop?: (() => void) | undefined;
  /** What follows on what was thrown, where that has several reasons. */
  reasons?: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, action, grave, act, stop, reasons, onClose, children }: Asking) {
  const [busy, setBusy] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [error, setError] = useState<string>();
  // A second click comes before the first has rendered.
  const acting = useRef(false);

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (acting.current) return;
    acting.current = true;
    setBusy(true);
    setStopping(false);
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
  const halt =
    busy && stop
      ? () => {
          setStopping(true);
          stop();
        }
      : undefined;
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
          <button type="button" onClick={halt ?? onClose}>
            {!halt ? "Back" : stopping ? "Stopping…" : "Stop"}
          </button>
          <button type="submit" class={grave ? "grave" : "main"} disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </Modal>
  );
}

/** Why something was not done, for its reader. */
export const reason = (error: Error): string =>
  error instanceof Problem && error.status === 401
    ? "You were signed out meanwhile, and this was not done. Try again once you are signed in."
    : error.message;
