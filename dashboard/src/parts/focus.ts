/** Where what had the focus is gone, the content has it, and the next Tab goes on there. */
export function keepFocus(): void {
  const { activeElement, body } = document;
  if (activeElement !== null && activeElement !== body) return;
  document.getElementById("content")?.focus({ preventScroll: true });
}
