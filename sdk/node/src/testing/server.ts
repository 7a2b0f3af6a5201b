/** A Halyard server for tests: the real binary, on a free port and a directory of its own. */

// From TypeScript 6 on a project gets no types of Node.js unless somebody asks for them.
/// <reference types="node" preserve="true" />

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HalyardError } from "../errors.js";
import { refuseUnknown } from "../options.js";

/** How long a server may take to listen, and to end when it is asked to. */
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;

/** How to start a server; everything may be left out. */
export interface ServerOptions {
  /** The program; HALYARD_BIN when left out, then `halyard` on the path. */
  binary?: string | undefined;
  /** Where it keeps its jobs; a temporary directory, removed at the end, when left out. */
  dataDir?: string | undefined;
  /** Further flags of `halyard serve`. */
  args?: readonly string[] | undefined;
  /** Where it listens; a free port of 127.0.0.1 when left out. */
  listen?: string | undefined;
}

/** A running server. It does not outlive the process that started it. */
export interface TestServer extends AsyncDisposable {
  /** Its address, for `new Halyard({ url })`. */
  readonly url: string;
  /** Where it keeps its jobs. */
  readonly dataDir: string;
  /** Its process. */
  readonly process: ChildProcess;
  /** Ends it, and removes its directory when that was made for it. */
  stop(): Promise<void>;
  /** Kills it, as a power cut would. Its directory stays. */
  kill(): Promise<void>;
  /** Starts it again on the same directory and address, killing it first if it runs. */
  restart(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws HalyardError when there is no program, or it does not begin to listen; SettingsError for
 *   an option that does not exist.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  refuseUnknown("a server", options, ["binary", "dataDir", "args", "listen"]);
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "halyard-")));
  const server = new Server(options, dataDir);
  try {
    await server.start(options.listen ?? "127.0.0.1:0");
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

class Server implements TestServer {
  readonly dataDir: string;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #address = "";

  constructor(options: ServerOptions, dataDir: string) {
    this.#options = options;
    this.dataDir = dataDir;
  }

  get url(): string {
    return `http://${this.#address}`;
  }

  get process(): ChildProcess {
    return this.#child as ChildProcess;
  }

  async start(listen: string): Promise<void> {
    const binary = this.#options.binary ?? process.env.HALYARD_BIN ?? "halyard";
    const args = ["serve", "--end-with-stdin", "--listen", listen, "--data-dir", this.dataDir];
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("HALYARD_"));
    const child = spawn(binary, [...args, ...(this.#options.args ?? [])], {
      env: Object.fromEntries(own),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    children.add(child);
    child.once("exit", () => children.delete(child));
    this.#address = await listening(child, binary);
    letGo(child);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && isRunning(child)) {
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      child.kill("SIGTERM");
      await ended(child);
      clearTimeout(late);
    }
    if (this.#options.dataDir === undefined) {
      await rm(this.dataDir, { recursive: true, force: true });
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && isRunning(child)) {
      child.kill("SIGKILL");
      await ended(child);
    }
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start(this.#address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Servers that run; none is left behind when this process ends. */
const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) {
    child.kill("SIGKILL");
  }
});

/** Waits for the line in which a server says where it listens. */
function listening(child: ChildProcess, binary: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (why: string) => {
      clearTimeout(late);
      child.kill("SIGKILL");
      reject(new HalyardError([`no server to test with: ${why}`, ...said].join("\n")));
    };
    const late = setTimeout(() => fail("it does not begin to listen"), START_TIMEOUT_MS);
    child.once("error", (error) =>
      fail(`\`${binary}\` cannot be started (${error.message}); name it by HALYARD_BIN`),
    );
    child.once("exit", (code) => fail(`\`${binary}\` ended with ${code}`));
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) => {
      if (said.length < 20) {
        said.push(line);
      }
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const address = /^listening on http:\/\/(\S+)$/.exec(line)?.[1];
      if (address !== undefined) {
        clearTimeout(late);
        child.removeAllListeners("exit");
        child.once("exit", () => children.delete(child));
        resolve(address);
      }
    });
  });
}

/** A server that runs keeps no test runner from ending. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    (stream as unknown as { unref?(): void } | null)?.unref?.();
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function ended(child: ChildProcess): Promise<void> {
  child.ref();
  return new Promise((resolve) => {
    if (isRunning(child)) {
      child.once("exit", () => resolve());
    } else {
      resolve();
    }
  });
}
