/** A handler that keeps what it has done in a variable of its module. */

import { mail } from "./world.js";

let sent = false;

export async function module_state(): Promise<void> {
  if (!sent) {
    await mail.send();
    sent = true;
  }
}
