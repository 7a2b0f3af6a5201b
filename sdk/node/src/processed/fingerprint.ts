/** What a key is used for, as a short text. Pure. */

import { createHash } from "node:crypto";
import { writeJson } from "../json/write.js";

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[[\]{}:,]/g;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The fingerprint of a payload: `1:` and SHA-256 of its canonical form in hexadecimal. Order of
 * members, white space and the spelling of strings and numbers make no difference. The same in
 * every SDK.
 *
 * @throws InvalidValueError for what JSON cannot carry, with its path.
 */
export function fingerprint(payload: unknown): string {
  return fingerprintOf(writeJson("payload", payload, true) ?? "null");
}

/** @internal The fingerprint of JSON text. */
export function fingerprintOf(text: string): string {
  return `1:${createHash("sha256").update(canonical(text)).digest("hex")}`;
}

/**
 * @internal JSON without white space, members sorted by the code points of their names, strings
 * with an escape only where one is needed, numbers as sign, digits without outer zeros, exponent.
 */
export function canonical(text: string): string {
  const tokens = text.match(TOKENS) ?? [];
  let place = 0;
  const take = () => tokens[place++] ?? "null";
  /** Elements up to `end`, with the commas between them. */
  const list = <T>(end: string, element: (first: string) => T): T[] => {
    const elements: T[] = [];
    for (let token = take(); token !== end && place <= tokens.length; token = take()) {
      if (token !== ",") {
        elements.push(element(token));
      }
    }
    return elements;
  };
  const value = (token: string): string => {
    if (token === "[") {
      return `[${list("]", value).join(",")}]`;
    }
    if (token === "{") {
      const members = list("}", (name) => {
        take();
        return { name: JSON.parse(name) as string, value: value(take()) };
      });
      members.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
      const written = members.map((member) => `${JSON.stringify(member.name)}:${member.value}`);
      return `{${written.join(",")}}`;
    }
    return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : number(token);
  };
  return value(take());
}

function number(token: string): string {
  const [matched, sign, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(token) ?? [];
  if (matched === undefined) {
    return token;
  }
  const digits = (whole + fraction).replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  const shift = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - kept.length);
  return kept === "" ? "0e0" : `${sign}${kept}e${shift}`;
}
