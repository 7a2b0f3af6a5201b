/** A table with its heads, in a frame that scrolls sideways where the window is narrow. */
import type { ComponentChildren } from "preact";

/** A head is its name, or says more of its column. */
export type Column =
  | string
  | {
      name: string;
      /** Its cells are numbers, to the right. */
      number?: boolean;
      /** Its name is for those who hear the page. */
      unseen?: boolean;
      /** What stands in the head instead of its name. */
      head?: ComponentChildren;
    };

/** The column of numbers with this name. */
export const numbers = (name: string): Column => ({ name, number: true });
/** The column of buttons. */
export const ACTIONS: Column = { name: "What can be done", unseen: true };

interface Props {
  /** What it is a table of. */
  label: string;
  columns: readonly Column[];
  /** The rows. */
  children: ComponentChildren;
}

export function Table({ label, columns, children }: Props) {
  return (
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={typeof column === "string" ? column : column.name} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

function Head({ column }: { column: Column }) {
  if (typeof column === "string") return <th scope="col">{column}</th>;
  const { name, number, unseen, head } = column;
  return (
    <th scope="col" class={number ? "number" : undefined}>
      {head ?? (unseen ? <span class="unseen">{name}</span> : name)}
    </th>
  );
}
