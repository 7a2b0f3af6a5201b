// Places an order, or works, and kills itself at the statement that it is told: before it is sent,
// or when it has been answered.
import { Halyard } from "@halyard/node";
import pg from "pg";
import { confirmOrder, placeOrder } from "../../examples/outbox.js";

const { DATABASE, WHAT, QUEUE, ORDER, STATEMENT, AFTER } = process.env;
const client = new pg.Client(DATABASE);
await client.connect();
let statements = 0;
const die = () => process.kill(process.pid, "SIGKILL");
const doomed = {
  query: async (text, values) => {
    statements += 1;
    const isLast = statements === Number(STATEMENT);
    if (isLast && AFTER === "no") {
      die();
    }
    const answer = await client.query(text, values);
    if (isLast) {
      die();
    }
    return answer;
  },
};
const halyard = new Halyard();
if (WHAT === "order") {
  await placeOrder(halyard, doomed, { id: ORDER, email: "a@example.com" });
} else {
  const worker = halyard.worker({ queues: [QUEUE], lease: "5s" });
  worker.task("confirm-order", (job) => confirmOrder(job, doomed));
  await worker.start();
}
