/** A question that must be answered before something is done, and the doing of it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface Asking {
  title: string;
  /** What the button says that does it. */
  action: string;
  /** It cannot be taken back. */
  grave?: boolean;
  /** Does it; what it throws is shown, and the dialog stays. */
  act: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, action, grave, act, onClose, children }: Asking) {
  const element = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  // A second click comes before the first has rendered.
  const acting = useRef(false);
  useEffect(() => element.current?.showModal(), []);

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
      setError((thrown as Error).message);
    } finally {
      acting.current = false;
      setBusy(false);
    }
  };
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {error && (
          <p role="alert" class="problem">
            {error}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => element.current?.close()}>
            Back
          </button>
          <button type="submit" class={grave ? "grave" : "main"} disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
