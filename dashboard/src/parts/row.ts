/** A row of links that is moved sideways where the window is narrow. */

/** How much of the link before stays to be seen, in pixels. */
const EDGE = 40;

/** Moves the row, and nothing else, until the link that this selector finds is in sight. */
export function intoView(row: HTMLElement | null, link: string): void {
  const here = row?.querySelector<HTMLElement>(link);
  if (!row || !here) return;
  const left = here.offsetLeft - row.offsetLeft;
  row.scrollLeft = left + here.offsetWidth > row.clientWidth ? left - EDGE : 0;
}
