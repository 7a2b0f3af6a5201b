/** A dialog that is above everything else while it is there, and gives the focus back. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { keepFocus } from "./focus.ts";

interface Props {
  /** The id of its heading. */
  labelledBy: string;
  class?: string;
  /** It is not closed by Escape: its own buttons end it. */
  stays?: boolean;
  /** The reader closed it. */
  onClose: () => void;
  children: ComponentChildren;
}

export function Modal({ labelledBy, class: kind, stays, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const here = useRef(true);
  useEffect(() => {
    const dialog = element.current;
    // Where a browser does not know this, the key itself is held back below.
    if (stays) dialog?.setAttribute("closedby", "none");
    dialog?.showModal();
    return () => {
      here.current = false;
      // Only closing gives the focus back to where it was; taking the element away does not.
      dialog?.close();
      // What it was opened from may be gone with what was done, once that is shown.
      setTimeout(keepFocus);
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={kind}
      aria-labelledby={labelledBy}
      onClose={() => here.current && onClose()}
      onKeyDown={(event) => stays && event.key === "Escape" && event.preventDefault()}
    >
      {children}
    </dialog>
  );
}
