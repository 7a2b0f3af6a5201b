/**
 * Ids as a client makes them: a prefix and a UUIDv7 in 26 characters of lower-case Crockford
 * base32, the TypeID form (https://github.com/jetify-com/typeid/tree/main/spec).
 *
 * Ids that come from elsewhere are opaque and never read.
 */

import { randomFillSync } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Every pair of digits, so that an id of 26 digits takes 13 look-ups. */
const PAIRS: readonly string[] = Array.from({ length: 1024 }, (_, n) => two(n));
/** Random bytes are fetched from the operating system in blocks: one call for 512 ids. */
const pool = new Uint8Array(4096);
/** The counter in one millisecond: 12 bits, of which the highest is free at the start. */
const COUNTER_MAX = 0xfff;
const COUNTER_START_MASK = 0x7ff;

let used = pool.length;
let ms = 0;
let counter = 0;
/** The first ten digits: 48 bits of time with two leading zeros. */
let time = "";

function two(n: number): string {
  return ALPHABET.charAt(n >> 5) + ALPHABET.charAt(n & 31);
}

function pair(n: number): string {
  return PAIRS[n & 1023] as string;
}

/** A new id; those of one process rise. */
export function makeId(prefix: string): string {
  if (used + 8 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const at = used;
  used += 8;
  const random = (n: number) => pool[at + n] as number;
  const now = Date.now();
  if (now > ms) {
    startMillisecond(now, ((random(0) << 8) | random(1)) & COUNTER_START_MASK);
  } else if (counter < COUNTER_MAX) {
    counter += 1;
  } else {
    startMillisecond(ms + 1, 0);
  }
  // Version 7 and the counter, variant 2, and 62 random bits, of which the first six come of the
  // same byte as the variant.
  const high = 0x7000 | counter;
  const a = (high << 8) | 0x80 | (random(0) & 0x3f);
  const b = (random(1) << 8) | random(2);
  const c = (random(3) << 16) | (random(4) << 8) | random(5);
  const d = (random(6) << 8) | random(7);
  return (
    `${prefix}_${time}` +
    pair(a >> 14) +
    pair(a >> 4) +
    pair((a << 6) | (b >> 10)) +
    pair(b) +
    pair(c >> 14) +
    pair(c >> 4) +
    pair((c << 6) | (d >> 10)) +
    pair(d)
  );
}

function startMillisecond(now: number, start: number): void {
  ms = now;
  counter = start;
  const high = Math.floor(now / 2 ** 20);
  const low = now % 2 ** 20;
  time = pair(high >> 20) + pair(high >> 10) + pair(high) + pair(low >> 10) + pair(low);
}
