/** Whether the server lets this page in. */
import { signal } from "@preact/signals";

import { stats } from "../api/calls.ts";
import { Problem } from "../api/client.ts";

/** `undefined` while the server is asked. */
export const access = signal<"open" | "needs a key" | undefined>(undefined);

/** Asks until there is an answer. */
export async function ask(): Promise<void> {
  try {
    await stats();
    access.value = "open";
  } catch (error) {
    if (error instanceof Problem && error.status === 401) access.value = "needs a key";
    else if (error instanceof Problem) access.value = "open";
    else setTimeout(() => void ask(), 2_000);
  }
}
