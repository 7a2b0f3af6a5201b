/** HTTP as bytes, and the connections of the default transport, against a server of sockets. */

import { once } from "node:events";
import net from "node:net";
import { HttpTransport, type TransportRequest } from "@halyard/node";
import { afterEach, describe, expect, test } from "vitest";
import { AnswerReader } from "../../src/http/answer-reader.js";

const OK = "HTTP/1.1 200 OK\r\n";

/** What a reader makes of a text, whole and byte by byte; `end` is the end of the connection. */
function read(text: string, end = false) {
  const found = [
    [Buffer.from(text)],
    [...Buffer.from(text)].map((byte) => Buffer.from([byte])),
  ].map((pieces) => {
    const reader = new AnswerReader();
    let answer: { status: number; body: string } | undefined;
    for (const piece of pieces) {
      answer ??= reader.feed(piece);
    }
    answer ??= end ? reader.end() : undefined;
    return answer && { status: answer.status, body: answer.body, keepAlive: reader.keepAlive };
  });
  expect(found[1]).toEqual(found[0]);
  return found[0];
}

describe("an answer is read, however it is cut into pieces", () => {
  const whole = (body: string, keepAlive = true, status = 200) => ({ status, body, keepAlive });
  test.each([
    ["a length", `${OK}Content-Length: 5\r\n\r\nhällo`.replace("5", "6"), whole("hällo")],
    ["no body", "HTTP/1.1 204 No Content\r\n\r\n", whole("", true, 204)],
    ["an empty body", `${OK}content-length: 0\r\n\r\n`, whole("")],
    [
      "chunks",
      `${OK}Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
      whole("abcde"),
    ],
    ["trailers", `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\n\r\n`, whole("a")],
    ["an interim answer", `HTTP/1.1 103 Early\r\n\r\n${OK}content-length: 1\r\n\r\na`, whole("a")],
    ["close", `${OK}Connection: Close\r\ncontent-length: 1\r\n\r\na`, whole("a", false)],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", whole("a", false)],
  ])("%s", (_name, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("until the connection ends", () => {
    expect(read(`${OK}\r\nabc`, true)).toEqual(whole("abc", false));
  });

  test.each([
    ["too little", `${OK}content-length: 5\r\n\r\nabc`],
    ["half a chunk", `${OK}transfer-encoding: chunked\r\n\r\n5\r\nab`],
    ["nothing", ""],
  ])("an end too early: %s", (_name, text) => {
    expect(() => read(text, true)).toThrow("the connection ended");
  });

  test.each([
    "SSH-2.0-OpenSSH\r\n\r\n",
    `${OK}no colon\r\n\r\n`,
    `${OK}content-length: -1\r\n\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\nxyz\r\n`,
  ])("no HTTP: %j", (text) => {
    expect(() => read(text)).toThrow("no HTTP");
  });

  test("more than was announced ends the connection's use", () => {
    const reader = new AnswerReader();
    const answer = reader.feed(Buffer.from(`${OK}content-length: 1\r\n\r\nab`));
    expect([answer?.body, reader.keepAlive]).toEqual(["a", false]);
  });
});

let server: net.Server | undefined;
let transport: HttpTransport | undefined;
const sockets: net.Socket[] = [];

afterEach(() => {
  transport?.close();
  sockets.splice(0).forEach((socket) => {
    socket.destroy();
  });
  server?.close();
});

/** A server that does `answer` for each request that comes whole in one piece. */
async function serve(answer: (socket: net.Socket, request: string) => void): Promise<void> {
  server = net.createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => answer(socket, data.toString()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  transport = new HttpTransport(new URL(`http://127.0.0.1:${port}`));
}

function send(more: Partial<TransportRequest> = {}) {
  const request = {
    method: "GET",
    url: "",
    path: "/a?b=c",
    headers: {},
    timeoutMs: 5_000,
  } as const;
  return (transport as HttpTransport).send({ ...request, ...more });
}

const fine = `${OK}content-length: 1\r\n\r\na`;

test("one carries requests one after the other, and two at once need two", async () => {
  const requests: string[] = [];
  await serve((socket, request) => {
    requests.push(request);
    socket.write(fine);
  });
  await send({ method: "POST", body: "ä", headers: { a: "b" } });
  await send();
  expect(sockets.length).toBe(1);
  expect(requests[0]).toMatch(/^POST \/a\?b=c HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\na: b\r\n/);
  expect(requests[0]).toMatch(/content-length: 2\r\n\r\nä$/);
  await Promise.all([send(), send()]);
  expect(sockets.length).toBe(2);
});

test("one that was closed while it rested is not used again", async () => {
  await serve((socket) => socket.end(fine));
  await send();
  const [first] = sockets;
  if (first?.closed === false) {
    await once(first, "close");
  }
  await send();
  expect(sockets.length).toBe(2);
});

test.each([
  ["closed without an answer", (socket: net.Socket) => socket.end(), "broken"],
  ["cut in the middle of one", (socket: net.Socket) => socket.end(OK), "broken"],
  ["reset", (socket: net.Socket) => socket.resetAndDestroy(), "broken"],
  ["no HTTP", (socket: net.Socket) => socket.write("hello\r\n\r\n"), "broken"],
  ["silent", () => {}, "timeout"],
])("%s", async (_name, answer, kind) => {
  await serve(answer);
  await expect(send({ timeoutMs: 300 })).rejects.toMatchObject({ kind });
});

test("nobody there", async () => {
  transport = new HttpTransport(new URL("http://127.0.0.1:1"));
  await expect(send()).rejects.toMatchObject({ kind: "connect" });
});

test("hung up on, before and while it waits", async () => {
  await serve(() => controller.abort(new Error("enough")));
  const controller = new AbortController();
  const told = { kind: "broken", cause: { message: "enough" } };
  await expect(send({ signal: controller.signal })).rejects.toMatchObject(told);
  await expect(send({ signal: controller.signal })).rejects.toMatchObject(told);
});

test("a header that would be two is refused", async () => {
  await serve((socket) => socket.write(fine));
  await expect(send({ headers: { a: "b\r\nc: d" } })).rejects.toThrow("the header a");
  expect(sockets.length).toBe(0);
});
