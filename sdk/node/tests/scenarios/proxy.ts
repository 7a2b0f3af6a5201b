/**
 * A TCP proxy that can lose requests and answers, and counts what passes.
 *
 * It understands of HTTP/1.1 what it takes to tell one message from the next: heads, and bodies
 * with a `Content-Length`.
 */

import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * What becomes of a request: it passes; the server never sees it; or the server does it and its
 * answer is lost. In the last two cases the client's connection is closed.
 */
export type Fate = "pass" | "lose request" | "lose answer";

/** A request that came by. */
export interface Seen {
  /** Method and path, such as `POST /v1/jobs`. */
  call: string;
  body: Buffer;
}

type Script = (seen: Seen) => Fate;

/** Parts a stream of bytes into messages. */
export class Messages {
  #unread = Buffer.alloc(0);

  /** The messages that are complete with these bytes, each with its head as text. */
  take(bytes: Buffer): { head: string; body: Buffer; bytes: Buffer }[] {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    const messages = [];
    for (;;) {
      const headEnd = this.#unread.indexOf("\r\n\r\n");
      if (headEnd < 0) {
        return messages;
      }
      const head = this.#unread.toString("latin1", 0, headEnd);
      const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (this.#unread.length < end) {
        return messages;
      }
      const whole = this.#unread.subarray(0, end);
      messages.push({ head, body: whole.subarray(headEnd + 4), bytes: whole });
      this.#unread = this.#unread.subarray(end);
    }
  }
}

/** A running proxy. */
export class LossyProxy {
  url = "";
  /** What came by, in order. */
  seen: Seen[] = [];
  /** The most requests that were under way at the same time. */
  underWayMax = 0;
  #underWay = 0;
  readonly #target: URL;
  readonly #script: Script;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: string, script: Script) {
    this.#target = new URL(target);
    this.#script = script;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** A proxy in front of the server at `target`. */
  static async start(target: string, script: Script = () => "pass"): Promise<LossyProxy> {
    const proxy = new LossyProxy(target, script);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = proxy.#server.address() as { port: number };
    proxy.url = `http://127.0.0.1:${port}`;
    return proxy;
  }

  /** Loses every request, or every answer, the first time it comes by. */
  static losingFirst(target: string, fate: Fate): Promise<LossyProxy> {
    const known = new Set<string>();
    return LossyProxy.start(target, ({ call, body }) => {
      const name = `${call} ${body.toString("latin1")}`;
      const first = !known.has(name);
      known.add(name);
      return first ? fate : "pass";
    });
  }

  /** The calls that came by since the last time this was asked. */
  takeCalls(): string[] {
    return this.seen.splice(0).map((seen) => seen.call);
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  #serve(client: Socket): void {
    const upstream = connect(Number(this.#target.port), this.#target.hostname);
    const requests = new Messages();
    const answers = new Messages();
    let fate: Fate = "pass";
    let waits = false;
    const end = () => {
      this.#underWay -= waits ? 1 : 0;
      waits = false;
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      // A connection that breaks is what this proxy is for.
      socket.on("error", end);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on("data", (bytes) => {
      for (const { head, body, bytes: whole } of requests.take(bytes)) {
        const seen = { call: head.split(" HTTP/")[0] as string, body: Buffer.from(body) };
        fate = this.#script(seen);
        this.seen.push(seen);
        if (fate === "lose request") {
          end();
          return;
        }
        waits = true;
        this.#underWay += 1;
        this.underWayMax = Math.max(this.underWayMax, this.#underWay);
        upstream.write(whole);
      }
    });
    upstream.on("data", (bytes) => {
      for (const { bytes: whole } of answers.take(bytes)) {
        this.#underWay -= waits ? 1 : 0;
        waits = false;
        if (fate === "lose answer") {
          end();
          return;
        }
        client.write(whole);
      }
    });
  }
}
