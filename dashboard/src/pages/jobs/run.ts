/** One action to any number of jobs, call by call. */
import type { bulk, JobSummary } from "../../api/calls.ts";
import { Problem, Unreachable } from "../../api/client.ts";
import { requestKey } from "../../api/request-key.ts";
import { BULK_MAX, type Part } from "./matching.ts";

export type Target = Pick<JobSummary, "id" | "life">;
export type Refused = Target & { why: string };

export interface Run {
  /** What the next calls act on. */
  jobs: readonly Target[];
  /** Where the list has more of them; null if it has none. */
  next: string | null;
  /** Of the next call, however often it is sent: it acts once. */
  key: string;
  done: number;
  refused: readonly Refused[];
}

export const begin = (jobs: readonly Target[], next: string | null = null): Run => ({
  ...{ jobs, next, key: requestKey() },
  ...{ done: 0, refused: [] },
});

export const isOver = ({ jobs, next }: Run): boolean => jobs.length === 0 && next === null;

export const tried = ({ done, refused }: Run): number => done + refused.length;

interface Calls {
  act: (jobs: readonly Target[], key: string) => ReturnType<typeof bulk>;
  more: (next: string) => Promise<Part>;
  wait?: (ms: number) => Promise<void>;
}

/**
 * Goes on step by step, and gives the run as it is after each. Whoever takes no further step stops
 * it; a step that throws has changed nothing, and is tried again from the run before it.
 */
export async function* steps(run: Run, { act, more, wait }: Calls): AsyncGenerator<Run> {
  while (!isOver(run)) {
    const { jobs, next, key } = run;
    if (jobs.length === 0 && next !== null) {
      run = { ...run, ...(await patiently(() => more(next), wait)) };
    } else {
      const now = jobs.slice(0, BULK_MAX);
      const { results } = await patiently(() => act(now, key), wait);
      const refused = results.flatMap(({ error }, at): Refused[] => {
        const job = now[at];
        return error && job
          ? [{ id: job.id, life: job.life, why: error.detail ?? error.title }]
          : [];
      });
      run = {
        ...{ jobs: jobs.slice(BULK_MAX), next, key: requestKey() },
        done: run.done + results.length - refused.length,
        refused: [...run.refused, ...refused],
      };
    }
    yield run;
  }
}

/** Before a call is sent again that the server could not answer for a moment, in milliseconds. */
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function patiently<T>(call: () => Promise<T>, wait = sleep): Promise<T> {
  for (const ms of WAITS_MS) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await wait(ms);
  }
  return call();
}

const isPassing = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof Problem && error.status === 503);
