/** What to do about a finding, as far as the runs have shown it. Pure. */

import { type Point, same, told } from "./point.js";
import type { End } from "./running.js";
import type { Outcome, Way } from "./ways.js";

/** Whether there is too much of an effect, too little, or something else. */
type Amount = "more" | "less" | "other";

/** A sentence on how to mend it; `undefined` when the runs do not show a cause. */
export function onEffect(
  way: Way,
  outcome: Outcome,
  expected: unknown,
  got: unknown,
): string | undefined {
  const amount = amountOf(expected, got);
  switch (way.kind) {
    case "killed":
    case "killed twice":
    case "killed in recovery":
    case "killed in the last attempt":
      return afterKill(way.point, outcome, amount);
    case "overlapping":
      return amount === "more"
        ? "two runs at once both found that it was not done yet; a look beforehand cannot tell, " +
            "so let what is written decide: a unique constraint, or a key that the provider knows"
        : undefined;
    case "twice":
    case "retried by hand":
      return amount === "more"
        ? "the second run did it all again; make the write an upsert under a unique constraint, " +
            "and give every outside call a key: job.id, or job.keyFor(name)"
        : undefined;
    case "clean":
      return undefined;
  }
}

function afterKill(point: Point, outcome: Outcome, amount: Amount): string | undefined {
  if (amount === "less") {
    return point.place === "after checkpoint"
      ? "the run after the kill took the work for done; write the checkpoint after its work, not " +
          `before it (the kill was ${told(point)})`
      : `the kill ${told(point)} came before the work was done, and the next run took it for ` +
          "done; record it after it is done, not before";
  }
  return outcome.second.some((passed) => same(passed, point))
    ? `the next run did it again and came by once more (${told(point)}); what it did had no key, ` +
        "or another key each time: pass job.id, or job.keyFor(name)"
    : undefined;
}

/** A sentence for a handler that does not come to an end any more. */
export function onNever(way: Way): string | undefined {
  if (!way.kind.startsWith("killed") || !("point" in way) || way.point === undefined) {
    return undefined;
  }
  return (
    `the run that was killed ${told(way.point)} left something that stops the next one; a ` +
    "process that dies runs no destructor and no `finally`, so what marks work as begun must end " +
    "by itself or be taken over"
  );
}

/** A sentence for a clean run that fails where it was to complete, or the other way round. */
export function onCleanRun(end: End): string {
  return end.kind === "completed"
    ? "correct the payload, so that the handler refuses it; or take `expectFailure` away"
    : "a job that fails did nothing that could be done twice; correct the payload, or what " +
        "`reset` leaves in the world, so that the handler completes; if the job is to fail, say " +
        "so with `expectFailure: true`";
}

function amountOf(expected: unknown, got: unknown): Amount {
  const [wanted, found] = [size(expected), size(got)];
  if (
    wanted === undefined ||
    found === undefined ||
    Array.isArray(expected) !== Array.isArray(got)
  ) {
    return "other";
  }
  return found > wanted ? "more" : found < wanted ? "less" : "other";
}

function size(value: unknown): number | bigint | undefined {
  if (Array.isArray(value)) {
    return value.length;
  }
  return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}
