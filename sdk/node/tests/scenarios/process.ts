/** Worker processes: `worker-process.js`, started in one of its roles. */

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { until } from "./work.js";

const PROGRAM = fileURLToPath(new URL("./worker-process.js", import.meta.url));

/** A worker process. */
export class Process {
  /** What it has said so far. */
  readonly said: string[] = [];
  /** The lines of its standard error so far. */
  readonly complained: string[] = [];
  readonly #child: ChildProcess;

  /** Starts a worker in this role; `go` is the file whose appearance a handler waits for. */
  constructor(url: string, role: string, go = "") {
    this.#child = spawn(process.execPath, [PROGRAM, role, url, go], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => this.said.push(line));
    const complaints = createInterface({ input: this.#child.stderr as NodeJS.ReadableStream });
    complaints.on("line", (line) => this.complained.push(line));
  }

  /** Waits until it has said this, `times` times. */
  async says(words: string, times = 1): Promise<void> {
    await until(words, () => this.said.filter((said) => said === words).length >= times);
  }

  /** Waits until this is in a line of its standard error. */
  async complains(words: string): Promise<void> {
    await until(words, () => this.complained.some((line) => line.includes(words)));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /**
   * Stops it where it stands, until it is sent `SIGCONT`. On a busy machine its threads go on for a
   * while after the signal, and could still take a job.
   */
  async freeze(): Promise<void> {
    this.signal("SIGSTOP");
    const tasks = `/proc/${this.#child.pid}/task`;
    const isStill = (task: string) => /\) T /.test(readFileSync(`${tasks}/${task}/stat`, "utf8"));
    await until("all its threads stand still", () => readdirSync(tasks).every(isStill));
  }

  /** Waits for its end. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return until("the worker process ends", () => {
      const { exitCode: code, signalCode: signal } = this.#child;
      return code !== null || signal !== null ? { code, signal } : undefined;
    });
  }

  /** Ends it, however it stands. */
  stop(): void {
    this.#child.kill("SIGKILL");
  }
}

/** Processes that end with the scenario. */
export async function withProcesses(
  play: (start: (url: string, role: string, go?: string) => Process) => Promise<void>,
): Promise<void> {
  const all: Process[] = [];
  try {
    await play((url, role, go) => {
      const one = new Process(url, role, go);
      all.push(one);
      return one;
    });
  } finally {
    for (const one of all) {
      one.stop();
    }
  }
}
