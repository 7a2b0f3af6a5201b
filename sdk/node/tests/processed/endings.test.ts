/** Errors of common clients: which of them leave open whether the effect has happened. */

import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/errors.js";
import { OutcomeUnknownError } from "../../src/failure.js";
import { isUnknown } from "../../src/processed/ending.js";
import { TransportError } from "../../src/transport.js";

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
/** As the client of Halyard throws it. */
const unreachable = (cause: Error) => new ConnectionError("no answer", { cause });

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
  "llhttp, half an answer": coded("HPE_INVALID_EOF_STATE"),
  "HTTP/2, the stream broke": coded("ERR_HTTP2_STREAM_ERROR"),
  "HTTP/2, the session broke": coded("ERR_HTTP2_SESSION_ERROR"),
  "pg, the connection broke": new Error("Connection terminated unexpectedly"),
  "pg, no answer in time": new Error("Query read timeout"),
  "pg, the server ends": coded("57P01"),
  "pg, the server says that the connection is broken": coded("08006"),
  "ioredis, the connection broke": new Error("Connection is closed."),
  "ioredis, no answer in time": new Error("Command timed out"),
  "redis, the connection broke": new Error("Socket closed unexpectedly"),
  "Halyard, no answer in time": unreachable(new TransportError("timeout")),
  "Halyard, the connection broke": unreachable(
    new TransportError("broken", { cause: new Error("the connection was closed") }),
  ),
  "a lost one beside a refused connection": new AggregateError([
    coded("ECONNRESET", { syscall: "read" }),
    coded("ECONNREFUSED", connecting),
  ]),
  "a lost one before a refused connection": coded("ECONNREFUSED", {
    ...connecting,
    cause: coded("UND_ERR_HEADERS_TIMEOUT"),
  }),
  "a refused connection, said to be unknown": coded("ECONNREFUSED", {
    ...connecting,
    cause: new OutcomeUnknownError("no answer"),
  }),
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
  "axios, no connection in time": coded("ETIMEDOUT", { cause: coded("ETIMEDOUT", connecting) }),
  "Node.js, no connection in time to any address": Object.assign(
    new AggregateError([coded("ETIMEDOUT", connecting), coded("ENETUNREACH", connecting)]),
    { code: "ETIMEDOUT" },
  ),
  "pg, no connection in time": new Error("Connection terminated due to connection timeout", {
    cause: new Error("Connection terminated unexpectedly"),
  }),
  "pg, an error of a statement": coded("23505"),
  "pg, no connection of the pool": new Error("timeout exceeded when trying to connect"),
  "Halyard, no connection": unreachable(
    new TransportError("connect", { cause: coded("ECONNRESET", { syscall: "read" }) }),
  ),
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
