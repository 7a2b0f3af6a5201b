/** What is known of how a job's starts ended, and what a retry will do. */
import type { Attempt, Checkpoint, Job } from "../../api/calls.ts";

/** Nobody reported how this start ended: what it did outside may or may not have happened. */
export const isUnknown = (attempt: Attempt): boolean =>
  attempt.state === "lost" || attempt.state === "timed_out";

/** The checkpoints that a retry finds done; beginning before one drops it and later ones. */
export function kept(job: Job, from: string | undefined, fresh: boolean): Checkpoint[] {
  if (fresh) return [];
  if (from === undefined) return job.checkpoints;
  const at = job.checkpoints.findIndex((checkpoint) => checkpoint.name === from);
  return at < 0 ? job.checkpoints : job.checkpoints.slice(0, at);
}

/** Of the newest start that ended: is it known how? */
export function lastEnd(job: Job): "none" | "known" | "unknown" {
  const last = job.attempts.find((attempt) => attempt.finished_at !== null);
  if (!last) return "none";
  return isUnknown(last) ? "unknown" : "known";
}

/** What the newest start that ended was reported as, with its error. */
export function lastReport(job: Job): string {
  const last = job.attempts.find((attempt) => attempt.finished_at !== null);
  if (!last) return "";
  const { error, state } = last;
  return error ? `${state}, with ${short(`${error.type}: ${error.message}`)}` : state;
}

/** Long enough to know an error by. */
const SHORT = 160;
const short = (text: string): string =>
  text.length > SHORT ? `${text.slice(0, SHORT)}…` : text.replace(/[.:!?]+$/, "");

/** Why a failed job is not tried again by itself. */
export function whyFinal({ error, attempt, max_attempts, crashes, max_crashes }: Job): string {
  if (error?.kind === "non_retryable") return "its error is one that no further attempt mends";
  if (error?.kind === "lost" && crashes >= max_crashes) {
    const times = crashes === 1 ? "once" : `${crashes} times in a row`;
    return `its worker was lost ${times}, and that is as often as it may be`;
  }
  return `this was attempt ${attempt} of ${max_attempts}`;
}

/** Which start first ran on after checkpoints of earlier ones, and after which. */
export function resumed(job: Job): { start: number; after: string }[] {
  const starts = [...job.attempts].reverse().map((attempt) => attempt.start);
  return starts.flatMap((start) => {
    const earlier = job.checkpoints.filter((checkpoint) => checkpoint.start < start);
    const last = earlier.at(-1);
    const before = job.checkpoints.filter((checkpoint) => checkpoint.start < start - 1);
    return last && before.length < earlier.length ? [{ start, after: last.name }] : [];
  });
}
