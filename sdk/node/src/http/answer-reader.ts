/**
 * Reads one HTTP/1.1 answer from the pieces in which it comes. Pure: no sockets here.
 *
 * Deliberately absent: compression and trailers, which the server does not send.
 */

import type { TransportAnswer } from "../transport.js";

/** Bytes of an answer's head. */
const HEAD_BYTES_MAX = 64 * 1024;
const HEAD_END = "\r\n\r\n";
const NOTHING = Buffer.alloc(0);

/** What came is no HTTP, or ended too early. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
}

/** How the end of a body is found. */
type Framing = "length" | "chunks" | "end";

/** Reads one answer. */
export class AnswerReader {
  /** Whether the connection can carry another request; known once the answer is whole. */
  keepAlive = true;
  #status = 0;
  #headers: Record<string, string> | undefined;
  #framing: Framing = "length";
  /** Bytes of the body that are still to come, with `length`. */
  #left = 0;
  #unread: Buffer = NOTHING;
  readonly #parts: Buffer[] = [];

  /**
   * Takes in the next piece; the answer once it is whole.
   *
   * @throws {@link ProtocolError} when it is no HTTP.
   */
  feed(piece: Buffer): TransportAnswer | undefined {
    let unread = this.#unread.length === 0 ? piece : Buffer.concat([this.#unread, piece]);
    while (this.#headers === undefined) {
      const end = unread.indexOf(HEAD_END);
      if (end < 0) {
        if (unread.length > HEAD_BYTES_MAX) {
          throw new ProtocolError("a head without an end");
        }
        this.#unread = unread;
        return undefined;
      }
      this.#begin(unread.toString("latin1", 0, end));
      unread = unread.subarray(end + HEAD_END.length);
    }
    this.#unread = NOTHING;
    switch (this.#framing) {
      case "length":
        return this.#upToLength(unread);
      case "chunks":
        return this.#chunks(unread);
      case "end":
        this.#parts.push(unread);
        return undefined;
    }
  }

  /**
   * The connection has ended: the answer, when that is how it ends.
   *
   * @throws {@link ProtocolError} when it is not whole.
   */
  end(): TransportAnswer {
    if (this.#headers === undefined || this.#framing !== "end") {
      throw new ProtocolError("the connection ended");
    }
    return this.#whole(this.#headers);
  }

  #begin(head: string): void {
    const lines = head.split("\r\n");
    const [, minor, digits] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] as string) ?? [];
    if (digits === undefined) {
      throw new ProtocolError(`no HTTP: it began with ${JSON.stringify(lines[0]?.slice(0, 80))}`);
    }
    this.#status = Number(digits);
    const headers: Record<string, string> = {};
    for (let n = 1; n < lines.length; n += 1) {
      const line = lines[n] as string;
      const colon = line.indexOf(":");
      if (colon <= 0) {
        throw new ProtocolError(`no HTTP: the header ${JSON.stringify(line.slice(0, 80))}`);
      }
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    if (this.#status < 200) {
      // An interim answer; the one that counts follows.
      return;
    }
    this.#headers = headers;
    const connection = headers.connection?.toLowerCase();
    this.keepAlive = minor === "1" ? connection !== "close" : connection === "keep-alive";
    this.#frame(headers);
  }

  #frame(headers: Record<string, string>): void {
    const length = headers["content-length"];
    if (this.#status === 204 || this.#status === 304) {
      this.#left = 0;
    } else if (headers["transfer-encoding"]?.toLowerCase().includes("chunked")) {
      this.#framing = "chunks";
    } else if (length === undefined) {
      this.#framing = "end";
      this.keepAlive = false;
    } else if (/^\d{1,15}$/.test(length)) {
      this.#left = Number(length);
    } else {
      throw new ProtocolError(`no HTTP: the length ${JSON.stringify(length.slice(0, 80))}`);
    }
  }

  #upToLength(bytes: Buffer): TransportAnswer | undefined {
    if (bytes.length > this.#left) {
      // More than was announced: whatever follows is not ours to understand.
      this.keepAlive = false;
    }
    const own = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#parts.push(own);
    this.#left -= own.length;
    return this.#left === 0 ? this.#whole(this.#headers ?? {}) : undefined;
  }

  #chunks(bytes: Buffer): TransportAnswer | undefined {
    let unread = bytes;
    for (;;) {
      const end = unread.indexOf("\r\n");
      if (end < 0) {
        break;
      }
      const [size = ""] = unread.toString("latin1", 0, end).split(";");
      if (!/^[\da-fA-F]{1,12}\s*$/.test(size)) {
        throw new ProtocolError(`no HTTP: the chunk ${JSON.stringify(size.slice(0, 80))}`);
      }
      const start = end + 2;
      const length = Number.parseInt(size, 16);
      if (length === 0) {
        const rest = unread.subarray(start);
        // Trailers end with an empty line.
        if (rest.indexOf("\r\n") === 0 || rest.includes(HEAD_END)) {
          return this.#whole(this.#headers ?? {});
        }
        break;
      }
      if (unread.length < start + length + 2) {
        break;
      }
      this.#parts.push(unread.subarray(start, start + length));
      unread = unread.subarray(start + length + 2);
    }
    this.#unread = unread;
    return undefined;
  }

  #whole(headers: Record<string, string>): TransportAnswer {
    const [first = NOTHING] = this.#parts;
    const bytes = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    return { status: this.#status, headers, body: bytes.toString("utf8") };
  }
}
