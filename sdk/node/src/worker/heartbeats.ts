/** The program's side of the heartbeat thread. */

import { Worker as Thread } from "node:worker_threads";
import type { Connection, Settings } from "../connection.js";
import { Beater, type BeaterPlan, type Told, type Trouble } from "./beater.js";
import type { LeaseTable } from "./lease-table.js";

/** What the thread starts with. */
export interface ThreadData {
  settings: Omit<Settings, "url" | "transport"> & { url: string; transport: undefined };
  memory: SharedArrayBuffer;
  rows: number;
  plan: BeaterPlan;
}

/** What the program tells the thread. */
export type Order = "drain" | "end";

/** What the thread tells the program. */
export type Word = { kind: "look" } | { kind: "trouble"; trouble: Trouble } | { kind: "drained" };

/** The heartbeats of one worker. */
export class Heartbeats {
  readonly #connection: Connection;
  readonly #table: LeaseTable;
  readonly #plan: BeaterPlan;
  readonly #told: Told;
  #thread: Thread | undefined;
  #beater: Beater | undefined;
  #draining = false;
  #ended = false;

  constructor(connection: Connection, table: LeaseTable, plan: BeaterPlan, told: Told) {
    this.#connection = connection;
    this.#table = table;
    this.#plan = plan;
    this.#told = told;
  }

  start(): void {
    const { settings } = this.#connection;
    if (settings.transport !== undefined) {
      this.#beatHere();
      return;
    }
    const data: ThreadData = {
      settings: { ...settings, url: settings.url.href, transport: undefined },
      memory: this.#table.memory,
      rows: this.#table.rows,
      plan: this.#plan,
    };
    try {
      this.#begin(data);
    } catch (error) {
      // A process may be allowed no threads.
      this.#lose(error as Error);
    }
  }

  #begin(data: ThreadData): void {
    const thread = new Thread(new URL("./heartbeat-thread.js", import.meta.url), {
      name: "halyard-heartbeats",
      workerData: data,
      // The program's own flags may be none that a thread takes, or load what it needs not.
      execArgv: [],
    });
    this.#thread = thread;
    thread.on("message", this.#hear);
    thread.on("error", (error) => this.#lose(error));
    thread.on("exit", () => this.#lose(new Error("it has ended")));
    thread.unref();
  }

  /** Tells the server that the worker ends. */
  drain(): void {
    this.#draining = true;
    this.#beater?.drain();
    this.#order("drain");
  }

  end(): void {
    this.#ended = true;
    this.#beater?.stop();
    this.#order("end");
  }

  #order(order: Order): void {
    this.#thread?.postMessage(order);
  }

  readonly #hear = (word: Word): void => {
    switch (word.kind) {
      case "look":
        this.#told.look();
        break;
      case "trouble":
        this.#told.trouble(word.trouble);
        break;
      case "drained":
        this.#told.drained();
        break;
    }
  };

  /** Without the thread the program beats by itself, as well as its handlers let it. */
  #lose(error: Error): void {
    this.#thread = undefined;
    if (this.#ended || this.#beater !== undefined) {
      return;
    }
    const connection = `the heartbeat thread is gone (${error.message}); going on without it`;
    this.#told.trouble({ connection });
    this.#beatHere();
  }

  #beatHere(): void {
    this.#beater = new Beater(this.#connection, this.#table, this.#plan, this.#told);
    this.#beater.start();
    if (this.#draining) {
      this.#beater.drain();
    }
  }
}
