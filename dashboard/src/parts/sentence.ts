/** The server's reasons are clauses; where one stands alone it is a sentence. */
export const sentence = (text: string): string =>
  `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${/[.:!?]$/.test(text) ? "" : "."}`;
