// Two handlers: one that keeps what it has done in a variable, and one that does not.

import { outbox } from "./outbox.js";

let sent = false;

export async function remindFromMemory() {
  if (!sent) {
    await outbox.send();
    sent = true;
  }
}

export default async function remind(job) {
  await outbox.send(job.keyFor("reminder"));
}
