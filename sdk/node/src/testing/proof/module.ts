/** Handlers loaded anew, as a new process does. */

import { SettingsError } from "../../errors.js";
import type { Handler } from "../../worker/worker.js";

/** The address of a file, or what imports it with a query, which is another one each time. */
export type ModuleSource = string | URL | ((query: string) => Promise<object>);

/** Each module is loaded under a query that no other was. */
let loads = 0;

/**
 * What answers the handler as a new process would have it; without a module always the same.
 *
 * @throws SettingsError for a module that cannot be used here.
 */
export function loader(
  handler: Handler,
  source: ModuleSource | undefined,
  name: string | undefined,
): () => Promise<Handler> {
  if (source === undefined) {
    return async () => handler;
  }
  if (typeof source !== "function" && process.env.VITEST !== undefined) {
    throw new SettingsError(
      "Vitest loads files its own way, so a proof cannot load one by its address; " +
        "give a function of the query, which imports the file with it",
    );
  }
  const load = typeof source === "function" ? source : (query: string) => import(source + query);
  return async () => {
    loads += 1;
    const exports: Readonly<Record<string, unknown>> = { ...(await load(`?halyard=${loads}`)) };
    const found = name === undefined ? (exports[handler.name] ?? exports.default) : exports[name];
    if (typeof found !== "function") {
      const wanted = name ?? handler.name;
      throw new SettingsError(`the module of the proof has no export \`${wanted}\``);
    }
    return found as Handler;
  };
}
