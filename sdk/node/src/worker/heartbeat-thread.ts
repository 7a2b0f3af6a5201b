/**
 * The heartbeat thread of a worker: a {@link Beater} with a connection of its own, which no handler
 * can starve. Started by `heartbeats.ts`.
 */

import { parentPort, workerData } from "node:worker_threads";
import { Connection } from "../connection.js";
import { Beater } from "./beater.js";
import type { Order, ThreadData, Word } from "./heartbeats.js";
import { LeaseTable } from "./lease-table.js";

const data = workerData as ThreadData;
const say = (word: Word) => parentPort?.postMessage(word);
const connection = new Connection({ ...data.settings, url: new URL(data.settings.url) });
const table = new LeaseTable(data.rows, data.memory);
const beater = new Beater(connection, table, data.plan, {
  look: () => say({ kind: "look" }),
  trouble: (trouble) => say({ kind: "trouble", trouble }),
  drained: () => say({ kind: "drained" }),
});

parentPort?.on("message", (order: Order) => {
  if (order === "drain") {
    beater.drain();
  } else {
    beater.stop();
    connection.close();
    parentPort?.close();
  }
});
beater.start();
