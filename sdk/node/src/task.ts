/**
 * Tasks with a type: a name, perhaps a queue, and a schema of the payload, of any library that
 * speaks Standard Schema (https://standardschema.dev): Zod, Valibot, ArkType and others.
 */

import { InvalidValueError, SettingsError } from "./errors.js";
import { checkName, refuseUnknown } from "./options.js";

/** The part of Standard Schema, version 1, that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says about a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** What does not fit, and where. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A task that {@link defineTask} made. `Input` is what a create gives, `Payload` what a handler
 * gets.
 */
export interface DefinedTask<Input = unknown, Payload = Input> {
  readonly name: string;
  readonly queue: string | undefined;
  readonly schema: StandardSchema<Input, Payload> | undefined;
}

/** What a task is defined by. */
export interface TaskDefinition<Input, Payload> {
  /** The task's name, as in `jobs.create`. */
  name: string;
  /** The queue of its jobs, unless a create names another. */
  queue?: string | undefined;
  /** What its payload must fit: checked when a job is created, and again before it is handled. */
  schema?: StandardSchema<Input, Payload> | undefined;
}

/**
 * Defines a task once, for those who create its jobs and for the worker that handles them.
 *
 * ```ts
 * const charge = defineTask({
 *   name: "charge-subscription",
 *   queue: "billing",
 *   schema: z.object({ subscription_id: z.string(), period: z.string() }),
 * });
 * const payload = { subscription_id: "sub_1", period: "2026-11" };
 * await halyard.jobs.create({ task: charge, payload });
 * worker.task(charge, async (job) => job.payload.period);
 * ```
 *
 * @throws SettingsError without a name, and for one that the server would not take.
 */
export function defineTask<Input = unknown, Payload = Input>(
  definition: TaskDefinition<Input, Payload>,
): DefinedTask<Input, Payload> {
  refuseUnknown("a task", definition, ["name", "queue", "schema"]);
  const { name, queue, schema } = definition;
  if (typeof name !== "string" || name === "") {
    throw new SettingsError("a task needs a name");
  }
  checkName("a task", name);
  if (queue !== undefined) {
    checkName("a queue", queue);
  }
  return Object.freeze({ name, queue, schema });
}

/**
 * @internal What `schema` makes of `value`.
 * @throws {@link InvalidValueError} about the first thing that does not fit.
 */
export function applySchema<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Output | Promise<Output> {
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(outputOf) : outputOf(result);
}

function outputOf<Output>(result: SchemaResult<Output>): Output {
  if (result.issues === undefined) {
    return result.value;
  }
  const [issue] = result.issues;
  throw new InvalidValueError("payload", pathOf(issue), issue?.message ?? "it does not fit");
}

function pathOf(issue: SchemaIssue | undefined): string {
  let text = "";
  for (const step of issue?.path ?? []) {
    const key = typeof step === "object" ? step.key : step;
    if (typeof key === "number") {
      text += `[${key}]`;
    } else {
      text += text === "" ? String(key) : `.${String(key)}`;
    }
  }
  return text;
}
