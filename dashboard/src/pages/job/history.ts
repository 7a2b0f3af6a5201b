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
