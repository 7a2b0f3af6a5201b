/**
 * A button for something that cannot always be done: it says why not, to whoever points at it,
 * reaches it with the keyboard, or taps it.
 */
import { useId, useRef, useState } from "preact/hooks";

import { Hint } from "./hint.tsx";

export interface Props {
  label: string;
  /** Which of many such buttons it is, for those who hear the page. */
  about?: string;
  /** Why it cannot be done now. */
  unless?: string | undefined;
  kind?: "main" | "grave" | "small";
  onClick: () => void;
}

export function Action({ label, about, unless, kind, onClick }: Props) {
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
        // Not when a dialog of a pointer's reader gives the focus back.
        onFocus={({ currentTarget }) => setTold(currentTarget.matches(":focus-visible"))}
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
        {about !== undefined && <span class="unseen"> {about}</span>}
      </button>
      {refused && (
        <Hint id={id} of={button} shown={told} onHide={() => setTold(false)}>
          {unless}
        </Hint>
      )}
    </>
  );
}
