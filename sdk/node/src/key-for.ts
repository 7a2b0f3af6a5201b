/** Keys for outside effects, made from the job's id and a name of the effect. */

import { createHash } from "node:crypto";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const HASH_CHARS = 26;

/**
 * @internal The job's id, `_`, and the first 26 characters of lower-case RFC 4648 base32 of
 * SHA-256(name in UTF-8).
 */
export function keyFor(jobId: string, name: string): string {
  let key = `${jobId}_`;
  let bits = 0;
  let held = 0;
  let chars = 0;
  for (const byte of createHash("sha256").update(name, "utf8").digest()) {
    bits = ((bits << 8) | byte) & 0xffff;
    held += 8;
    while (held >= 5 && chars < HASH_CHARS) {
      held -= 5;
      key += ALPHABET.charAt((bits >> held) & 31);
      chars += 1;
    }
  }
  return key;
}
