/**
 * A button for something that cannot always be done: it says why not, to whoever points at it,
 * reaches it with the keyboard, or taps it.
 */
import { useId, useRef, useState } from "preact/hooks";

import { Hint } from "./hint.tsx";

export interface Props {
  label: string;
  /** Why it cannot be done now. */
  unless?: string | undefined;
  kind?: "main" | "grave" | "small";
  onClick: () => void;
}

export function Action({ label, unless, kind, onClick }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const [told, setTold] = useState(false);
  const refused = unless !== undefined;
  // Not `disabled`: such a button is not reached with the keyboard, and says nothing when tapped.
  return (
    <>
      <button
        ref={button}
        type="button"
        class={kind}
        aria-disabled={refused || undefined}
        aria-describedby={refused ? id : undefined}
        onClick={() => (refused ? setTold(true) : onClick())}
        onFocus={() => setTold(true)}
        onBlur={() => setTold(false)}
        onPointerEnter={() => setTold(true)}
        onPointerLeave={({ relatedTarget }) =>
          setTold(
            button.current === document.activeElement ||
              (relatedTarget instanceof Element && relatedTarget.id === id),
          )
        }
      >
        {label}
      </button>
      {refused && (
        <Hint id={id} of={button} shown={told} onHide={() => setTold(false)}>
          {unless}
        </Hint>
      )}
    </>
  );
}
