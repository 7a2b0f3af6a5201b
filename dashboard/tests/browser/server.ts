/** A `halyard serve` of a test's own, and calls of it. The binary is named by `HALYARD_BIN`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { createInterface } from "node:readline";

type Body = Record<string, unknown>;

export class Server {
  readonly #directory = mkdtempSync(join(tmpdir(), "halyard-dashboard-"));
  #process: ChildProcess | undefined;
  readonly #key: string | undefined;
  address = "127.0.0.1:0";

  /** With a key it asks every caller for one; calls made here carry it. */
  constructor(key?: string) {
    this.#key = key;
  }

  get url(): string {
    return `http://${this.address}`;
  }

  /** Starts it, again at the same address if it ran before. */
  async start(...more: string[]): Promise<this> {
    const binary = env.HALYARD_BIN;
    if (!binary) throw new Error("HALYARD_BIN names the binary to test");
    const where = ["--listen", this.address, "--data-dir", join(this.#directory, "data")];
    const child = spawn(binary, ["serve", ...where, "--end-with-stdin", ...more], {
      stdio: ["pipe", "pipe", "ignore"],
      env: this.#key === undefined ? env : { ...env, HALYARD_API_KEY: this.#key },
    });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout })) {
      this.address = line.replace("listening on http://", "").trim();
      return this;
    }
    throw new Error("the server ended before it listened");
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true });
  }

  /** The answer of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it has written.
  async call(method: string, path: string, body?: Body | string): Promise<any> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (this.#key !== undefined) headers.authorization = `Bearer ${this.#key}`;
    const answer = await fetch(this.url + path, {
      method,
      headers,
      body: body === undefined || typeof body === "string" ? (body ?? null) : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  create(job: Body): Promise<{ id: string }> {
    return this.call("POST", "/v1/jobs", { task: "charge", ...job });
  }

  /** A key that the server makes. */
  makeKey(name: string, role: string): Promise<{ id: string; key: string }> {
    return this.call("POST", "/v1/api-keys", { name, role });
  }

  /** Leases one job of this queue, as this worker. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it has written.
  async claim(queue: string, worker: Body = { id: "wrk_test" }): Promise<any> {
    // Nobody renews the lease: it outlasts the test.
    const body = { worker, queues: [queue], wait_ms: 20_000, lease_ms: 600_000 };
    return (await this.call("POST", "/v1/jobs/claim", body)).jobs[0];
  }

  async finish(job: { id: string; lease: { token: string } }, outcome: Body): Promise<void> {
    const report = { id: job.id, token: job.lease.token, ...outcome };
    const { results } = await this.call("POST", "/v1/jobs/finish", { outcomes: [report] });
    if (results[0].status !== "ok") throw new Error(JSON.stringify(results));
  }

  /** A job that failed for good after two checkpoints. */
  async fail(queue: string, more: Body = {}): Promise<string> {
    const { id } = await this.create({ queue, max_attempts: 1, ...more });
    const job = await this.claim(queue);
    for (const name of ["invoices", "ledger"]) {
      const checkpoint = { token: job.lease.token, name, value: { at: name } };
      await this.call("POST", `/v1/jobs/${id}/checkpoints`, checkpoint);
    }
    const error = { type: "CardDeclined", message: "Your card was declined.", stack: "at charge" };
    await this.finish(job, { outcome: "failed", error });
    return id;
  }
}
