/** What is said about answers that send the client elsewhere (`sdk/scenarios/redirects.json`). */

import { expect, test } from "vitest";
import { redirection } from "../../src/redirect.js";
import { read } from "../scenarios/file.js";

interface Row {
  what: string;
  status: number;
  url: string;
  location?: string;
  told?: string;
}

const { redirects } = read<{ redirects: Row[] }>("redirects.json");

test.each(redirects)("$what", ({ status, url, location, told }) => {
  expect(redirection(status, url, location)).toBe(told);
});
