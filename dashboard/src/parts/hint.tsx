/** A line beside a control, above everything else: no table or dialog cuts it off. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  /** The control names it as its description, whether it is shown or not. */
  id: string;
  of: RefObject<HTMLElement | null>;
  shown: boolean;
  /** It was sent away. */
  onHide: () => void;
  children: string;
}

export function Hint({ id, of, shown, onHide, children }: Props) {
  const element = useRef<HTMLSpanElement>(null);
  const hide = useRef(onHide);
  hide.current = onHide;
  useEffect(() => {
    const hint = element.current;
    if (!shown || !hint) return;
    const place = () => of.current && putBeside(hint, of.current);
    const onPointer = ({ target }: PointerEvent) => {
      if (!(target instanceof Node) || !hint.contains(target)) hide.current();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // It ends the hint, not the dialog that the control stands in.
      event.preventDefault();
      hide.current();
    };
    hint.showPopover();
    place();
    addEventListener("scroll", place, true);
    addEventListener("resize", place);
    addEventListener("pointerdown", onPointer, true);
    addEventListener("keydown", onKey, true);
    return () => {
      removeEventListener("scroll", place, true);
      removeEventListener("resize", place);
      removeEventListener("pointerdown", onPointer, true);
      removeEventListener("keydown", onKey, true);
      hint.hidePopover();
    };
  }, [shown]);
  return (
    <span
      ref={element}
      id={id}
      role="tooltip"
      class="hint"
      popover="manual"
      onPointerLeave={() => onHide()}
    >
      {children}
    </span>
  );
}

/** How far it stays from the window's edge, in pixels. */
const EDGE = 8;

/** Under the control, or over it where there is no room; touching it, so a pointer can go there. */
function putBeside(hint: HTMLElement, control: HTMLElement): void {
  const [own, its] = [hint.getBoundingClientRect(), control.getBoundingClientRect()];
  const under = its.bottom + own.height <= innerHeight;
  const left = Math.min(its.left, document.documentElement.clientWidth - own.width - EDGE);
  hint.style.left = `${Math.max(EDGE, left)}px`;
  hint.style.top = `${under ? its.bottom : its.top - own.height}px`;
}
