/**
 * Calls of the server's public HTTP API. An answer that says no is thrown as a {@link Problem}, one
 * that never came as a {@link Unreachable}.
 */
import type { components } from "../../../sdk/node/src/_generated/wire.ts";

export type Shapes = components["schemas"];

/** The server refused a call, and says why. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** No answer came. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

let signedOut = (): void => {};

/** Who hears of every answer that says that nobody is signed in. */
export function hearSignedOut(hear: () => void): void {
  signedOut = hear;
}

/** Where a page signs in and out; an answer from there is for whoever asked. */
export const SESSION = "/v1/session";

export interface Options {
  /** Sent as JSON. */
  body?: unknown;
  /** Makes a repeat of the call harmless. */
  requestKey?: string;
}

/** The answer's own text. */
export async function text(method: string, path: string, options: Options = {}): Promise<string> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (options.body !== undefined) headers["content-type"] = "application/json";
  if (options.requestKey) headers["idempotency-key"] = options.requestKey;
  let answer: Response;
  let body: string;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      cache: "no-store",
    });
    body = await answer.text();
  } catch {
    throw new Unreachable("the server does not answer");
  }
  if (answer.status === 401 && path !== SESSION) signedOut();
  if (!answer.ok) throw problem(answer.status, body);
  return body;
}

export async function json<T>(method: string, path: string, options?: Options): Promise<T> {
  const body = await text(method, path, options);
  return (body === "" ? undefined : JSON.parse(body)) as T;
}

function problem(status: number, body: string): Problem {
  try {
    const { code, detail, title } = JSON.parse(body) as Partial<Shapes["Problem"]>;
    return new Problem(status, code ?? "", detail ?? title ?? `status ${status}`);
  } catch {
    return new Problem(status, "", `status ${status}`);
  }
}
