/**
 * A table with its heads, in a frame that scrolls sideways where it is too wide. In a narrow window
 * each row is a card, in which a cell is told by the name of its column.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

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
  const table = useRef<HTMLTableElement>(null);
  // The style sheet reads them from the cells; rows do not repeat what the heads say.
  useEffect(() => {
    for (const row of table.current?.tBodies[0]?.rows ?? []) {
      for (const [index, cell] of [...row.cells].entries()) nameCell(cell, columns[index]);
    }
  });
  return (
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table ref={table}>
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

/** Cells of a column without a head that is seen have no name either. */
function nameCell(cell: HTMLElement, column: Column | undefined): void {
  if (cell.tagName === "TH" || column === undefined) return;
  const name =
    typeof column === "string" ? column : column.unseen || column.head ? "" : column.name;
  if (name && cell.dataset.name !== name) cell.dataset.name = name;
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
