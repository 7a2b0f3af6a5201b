/** A button for something that cannot always be done: it says why not. */
export interface Props {
  label: string;
  /** Why it makes no sense now. */
  unless?: string | undefined;
  kind?: "main" | "grave" | "small";
  onClick: () => void;
}

export function Action({ label, unless, kind, onClick }: Props) {
  const disabled = unless !== undefined;
  return (
    <button type="button" class={kind} disabled={disabled} title={unless} onClick={onClick}>
      {label}
    </button>
  );
}
