/** What a worker tells its program beside the jobs themselves. */

import { SettingsError } from "../errors.js";
import {
  type CancelledJob,
  cancelledLine,
  type FailedJob,
  failedLine,
  type LostJob,
  lostLine,
  oneLine,
} from "./failed-job.js";

/** What is told, and with what. */
export interface HookArguments {
  /** The worker's own calls begin to fail. */
  error: Error;
  /** An attempt failed; what comes next is in there. */
  failed: FailedJob;
  /** A lease or a deadline has passed under a handler. */
  lost: LostJob;
  /** Somebody cancelled a job whose handler runs; the handler was told to stop. */
  cancelled: CancelledJob;
  /** There has been nothing to do for a quarter of a second; told once each time. */
  idle: undefined;
}

export type HookName = keyof HookArguments;

/** What is called; what it returns is not waited for. */
export type Hook<Name extends HookName> = (about: HookArguments[Name]) => unknown;

/** The hooks of one worker. */
export class Hooks {
  readonly #hooks: { [Name in HookName]: Set<Hook<Name>> } = {
    error: new Set(),
    failed: new Set(),
    lost: new Set(),
    cancelled: new Set(),
    idle: new Set(),
  };

  /** The last line about the worker's own calls, and when it was printed. */
  #trouble = { line: "", at: Number.NEGATIVE_INFINITY };

  add<Name extends HookName>(name: Name, hook: Hook<Name>): void {
    if (typeof hook !== "function") {
      throw new SettingsError(`the hook \`${String(name)}\` is no function`);
    }
    this.#named(name).add(hook);
  }

  remove<Name extends HookName>(name: Name, hook: Hook<Name>): void {
    this.#named(name).delete(hook);
  }

  #named<Name extends HookName>(name: Name): Set<Hook<Name>> {
    if (!Object.hasOwn(this.#hooks, name)) {
      throw new SettingsError(
        `a worker has no hook \`${String(name)}\`, only \`error\`, \`failed\`, \`lost\`, ` +
          "`cancelled` and `idle`; what became of a job is on the job: jobs.wait(id), jobs.get(id)",
      );
    }
    return this.#hooks[name];
  }

  /** Calls the hooks. One that throws does not take the worker with it. */
  tell<Name extends HookName>(name: Name, about: HookArguments[Name]): void {
    const hooks = this.#hooks[name];
    const line = hooks.size === 0 ? LINES[name]?.(about) : undefined;
    if (line !== undefined && !(name === "error" && this.#isOld(line))) {
      console.warn(`halyard: ${line}`);
    }
    for (const hook of hooks) {
      try {
        const returned = hook(about);
        if (returned instanceof Promise) {
          returned.catch(complain);
        }
      } catch (error) {
        complain(error);
      }
    }
  }

  /** Whether this line about the worker's own calls was printed a moment ago. */
  #isOld(line: string): boolean {
    const now = performance.now();
    if (line === this.#trouble.line && now - this.#trouble.at < TROUBLE_PAUSE_MS) {
      return true;
    }
    this.#trouble = { line, at: now };
    return false;
  }
}

/** A server that is away fails claims, heartbeats and reports: one line of them is enough. */
const TROUBLE_PAUSE_MS = 60_000;

/** What is printed when nobody has a hook for it: a worker in trouble must not be silent. */
const LINES: { [Name in HookName]?: (about: HookArguments[Name]) => string } = {
  error: ({ message }) => `${oneLine(message)}; the worker goes on trying`,
  failed: failedLine,
  lost: lostLine,
  cancelled: cancelledLine,
};

function complain(error: unknown): void {
  try {
    console.error("halyard: a hook of the worker failed:", error);
  } catch {
    console.error("halyard: a hook of the worker failed with something that cannot be shown");
  }
}
