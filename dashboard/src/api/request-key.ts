/** The key of a call that acts once, however often it is sent. */

const BYTES = 16;

/** A new one, by chance. Pages of other machines without TLS have no `crypto.randomUUID`. */
export const requestKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
