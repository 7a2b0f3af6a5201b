/**
 * Signs that turn what stands beside them round, or are not seen, shown by their number: a text
 * that somebody means badly looks like what it is.
 */

/** Directions of writing, their ends, signs without width; control signs but tab and newline. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export const visible = (text: string): string =>
  text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
