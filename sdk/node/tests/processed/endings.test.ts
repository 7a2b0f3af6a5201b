/** Errors of common clients: which of them leave open whether the effect has happened. */

import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { isUnknown } from "../../src/processed/ending.js";

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error(`it is ${code}`), { code, ...more });
/** As the client of Stripe throws it: the cause is in `detail`, and `code` is not set. */
const stripe = (detail: Error) =>
  Object.assign(new Error("An error occurred with our connection to Stripe."), {
    type: "StripeConnectionError",
    code: undefined,
    raw: { message: "An error occurred with our connection to Stripe.", detail },
    detail,
  });
/** The error of a request. */
const failure = (port: number) =>
  new Promise<Error>((resolve) => {
    request({ host: "127.0.0.1", port, method: "POST" }).on("error", resolve).end();
  });
const connecting = { syscall: "connect", errno: -111 };

const unknown = {
  "Stripe, no answer in time": stripe(coded("ETIMEDOUT")),
  "Stripe, the connection broke": stripe(coded("ECONNRESET")),
  "an error about Stripe's": new Error("no charge", { cause: stripe(coded("ECONNRESET")) }),
  "nodemailer, closed after DATA": coded("ECONNECTION", { command: "CONN" }),
  "nodemailer, no answer in time": coded("ETIMEDOUT", { command: "CONN" }),
  "nodemailer, the socket broke": coded("ESOCKET", { command: "CONN", syscall: "read" }),
  "axios, half an answer": coded("ERR_BAD_RESPONSE", { request: {} }),
  "axios, no answer in time": coded("ECONNABORTED"),
  "axios, aborted": coded("ERR_REQUEST_ABORTED"),
};

const plain = {
  "Stripe, refused connection": stripe(coded("ECONNREFUSED", connecting)),
  "Stripe, unknown host": stripe(coded("ENOTFOUND", { syscall: "getaddrinfo" })),
  "Stripe, declined": Object.assign(new Error("declined"), { code: "card_declined", detail: "x" }),
  "nodemailer, refused connection": coded("ESOCKET", { command: "CONN", ...connecting }),
  "nodemailer, unknown host": coded("EDNS", { command: "CONN", syscall: "getaddrinfo" }),
  "nodemailer, refused address": coded("EENVELOPE", { responseCode: 550 }),
  "axios, an answer of 502": coded("ERR_BAD_RESPONSE", { response: { status: 502 } }),
  "axios, refused connection": coded("ECONNREFUSED", connecting),
};

test.each(Object.entries(unknown))("unknown: %s", (_name, error) => {
  expect(isUnknown(error, undefined)).toBe(true);
});

test.each(Object.entries(plain))("plain: %s", (_name, error) => {
  expect(isUnknown(error, undefined)).toBe(false);
});

test("what Node.js itself says of a broken answer, as Stripe's client wraps it", async () => {
  const server = createServer((asked) => asked.socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const broken = await failure(port);
  server.close();
  await once(server, "close");
  const refused = await failure(port);
  expect(isUnknown(stripe(broken), undefined)).toBe(true);
  expect(isUnknown(stripe(refused), undefined)).toBe(false);
});
