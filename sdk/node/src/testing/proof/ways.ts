/** The ways in which at-least-once delivery can run a job. */

import { type Point, same, told } from "./point.js";
import { type End, Lives, type Running, type Subject } from "./running.js";

/**
 * How long a second run may wait for a frozen one, perhaps for a lock that it holds, before that
 * one goes on.
 */
const BESIDE_MAX_MS = 1_000;

/** One way to run a job; its kind is its name in the shared list of proofs. */
export type Way =
  /** Once; to the end and again, because the report was lost; completed and retried by hand. */
  | { readonly kind: "clean" | "twice" | "retried by hand" }
  /** Killed at a point: once, in both of the first two runs, in the last attempt of its life. */
  | {
      readonly kind: "killed" | "killed twice" | "killed in the last attempt";
      readonly point: Point;
    }
  /** Killed at a point, and the run that followed at one of its own. */
  | { readonly kind: "killed in recovery"; readonly first: Point; readonly point: Point }
  /** Frozen at a point or before its first line, while another run goes to the end. */
  | { readonly kind: "overlapping"; readonly point: Point | undefined };

/** What a way came to. */
export interface Outcome {
  readonly end: End;
  /** The points of the first run. */
  readonly first: readonly Point[];
  /** The points of the run that followed. */
  readonly second: readonly Point[];
}

/** Every way for a handler with these points, the shorter ones first. */
export function allWays(points: readonly Point[]): Way[] {
  return [
    { kind: "twice" },
    ...points.map((point): Way => ({ kind: "killed", point })),
    { kind: "overlapping", point: undefined },
    ...points.map((point): Way => ({ kind: "overlapping", point })),
    { kind: "retried by hand" },
    ...points.map((point): Way => ({ kind: "killed twice", point })),
    ...points.map((point): Way => ({ kind: "killed in the last attempt", point })),
  ];
}

/**
 * The ways to kill the run that follows a kill as well, at each point that the killed one has not
 * passed. One that goes on as the clean run does, from some point of it to the end, is none that
 * recovers: a kill in there was tried.
 */
export function recoveries(way: Way, outcome: Outcome, clean: readonly Point[]): Way[] {
  const { first, second } = outcome;
  const end = clean.slice(Math.max(clean.length - second.length, 0));
  if (way.kind !== "killed" || second.every((point, place) => isLike(point, end[place]))) {
    return [];
  }
  return second
    .filter((point) => !first.some((passed) => same(passed, point)))
    .map((point) => ({ kind: "killed in recovery", first: way.point, point }));
}

/** Whether two points are the same but for how often they were passed. */
function isLike(left: Point, right: Point | undefined): boolean {
  return left.place === right?.place && left.name === right.name;
}

/** What was done, for people. */
export function sequence(way: Way): string {
  switch (way.kind) {
    case "clean":
      return "run";
    case "twice":
      return "run, run again";
    case "retried by hand":
      return "run, retried by hand, run again";
    case "killed":
      return `run, killed ${told(way.point)}, run again`;
    case "killed twice": {
      const point = told(way.point);
      return `run, killed ${point}, run, killed ${point} again, run again`;
    }
    case "killed in recovery": {
      const [first, point] = [told(way.first), told(way.point)];
      return `run, killed ${first}, run, killed ${point}, run again`;
    }
    case "killed in the last attempt":
      return `run in the last attempt, killed ${told(way.point)}, retried by hand, run again`;
    case "overlapping": {
      const place = way.point === undefined ? "before its first line" : told(way.point);
      return `run, frozen ${place}, run beside it to the end, the first goes on`;
    }
  }
}

/** Runs the job this way. */
export async function play(way: Way, subject: Subject): Promise<Outcome> {
  const lives = new Lives(subject);
  if (way.kind === "overlapping") {
    return await overlapping(lives, way.point, subject);
  }
  if (way.kind === "killed in the last attempt") {
    lives.lastAttempt();
  }
  if (way.kind === "killed in recovery") {
    const { first } = await killed(lives, way.first);
    await killed(lives, way.point);
    const { end, passed } = await lives.runToEnd();
    return { end, first, second: passed };
  }
  const first = "point" in way ? await killed(lives, way.point) : await ended(lives);
  if (way.kind === "clean") {
    return { ...first, second: [] };
  }
  if (way.kind === "killed twice") {
    const second = await killed(lives, way.point);
    const { end } = await lives.runToEnd();
    return { end, first: first.first, second: second.first };
  }
  if (way.kind === "retried by hand" || way.kind === "killed in the last attempt") {
    lives.retryByHand();
  }
  const { end, passed } = await lives.runToEnd();
  return { end, first: first.first, second: passed };
}

async function ended(lives: Lives): Promise<{ end: End; first: readonly Point[] }> {
  const { end, passed } = await lives.runToEnd();
  return { end, first: passed };
}

/** A run that is killed at a point, and the points up to there; one that never comes there ends. */
async function killed(lives: Lives, point: Point): Promise<{ end: End; first: readonly Point[] }> {
  const running = await lives.begin(point);
  const halt = await running.drive();
  const first = [...running.course.passed];
  if (halt === "stopped" || halt === "stuck") {
    await lives.kill(running);
  }
  return { end: { kind: "completed" }, first };
}

async function overlapping(
  lives: Lives,
  point: Point | undefined,
  subject: Subject,
): Promise<Outcome> {
  const frozen = await lives.begin(point);
  if (point !== undefined) {
    const halt = await frozen.drive();
    if (halt !== "stopped" && halt !== "stuck") {
      // It did not come to the point this time.
      const { end, passed } = await lives.runToEnd();
      return { end, first: frozen.course.passed, second: passed };
    }
  }
  const first = [...frozen.course.passed];
  lives.otherProcess();
  const beside = await lives.begin();
  const end = await besides(lives, frozen, beside, subject);
  return { end, first, second: beside.course.passed };
}

/** Lets a run end beside one that is frozen, and then that one go on. */
async function besides(
  lives: Lives,
  frozen: Running,
  beside: Running,
  subject: Subject,
): Promise<End> {
  const halt = await beside.drive(Math.min(BESIDE_MAX_MS, subject.patienceMs));
  if (halt === "stopped" || halt === "stuck") {
    // It waits for the first, which holds something: in this order they cannot be run.
    frozen.wake();
    const [, end] = await Promise.all([frozen.drive(), lives.finish(beside)]);
    return end;
  }
  // One that was told to wait for the first, or failed because of it, is run again later.
  const rest = lives.rest(halt);
  frozen.wake();
  if ((await frozen.drive()) === "stuck") {
    await lives.kill(frozen);
    return { kind: "never", said: "the run that was frozen is still waiting" };
  }
  return "end" in rest ? rest.end : (await lives.runToEnd()).end;
}
