/** Points of a handler, where a run of it can be stopped. */

import { AsyncLocalStorage } from "node:async_hooks";

/** What kind of place a point is. */
export type Place = "at" | "before checkpoint" | "after checkpoint";

/** A place in a handler, and which time of passing it. */
export interface Point {
  readonly place: Place;
  readonly name: string;
  /** From 1. */
  readonly time: number;
}

const ENDINGS: Readonly<Record<number, string>> = { 2: "nd", 3: "rd" };

/** ``at `charged` ``, ``before checkpoint `invoices` ``, ``at `charged` (the 2nd time)``. */
export function told({ place, name, time }: Point): string {
  const again = time === 1 ? "" : ` (the ${time}${ENDINGS[time] ?? "th"} time)`;
  return `${place} \`${name}\`${again}`;
}

/** Whether two points are the same. */
export function same(left: Point, right: Point | undefined): boolean {
  return left.time === right?.time && left.place === right.place && left.name === right.name;
}

const courses = new AsyncLocalStorage<Course>();

/**
 * A point of a fake, to be placed where a process could die: before and after what it does to the
 * world. In a proof the run may be killed or frozen here, and then this does not resolve; anywhere
 * else it does nothing.
 */
export async function crashPoint(name: string): Promise<void> {
  await pass("at", name);
}

/** Passes a point, or stays there. */
export async function pass(place: Place, name: string): Promise<void> {
  await courses.getStore()?.arrive(place, name);
}

/** An owner for the next claim of this run in a processed store; `undefined` outside of a proof. */
export function nextOwner(): string | undefined {
  return courses.getStore()?.nextOwner();
}

/** The owners of what runs of this job that were killed have claimed. */
export function killedOwners(): readonly string[] {
  return courses.getStore()?.killed.flatMap((course) => course.owners) ?? [];
}

/** One run: the points that it has passed, and where it stops. */
export class Course {
  /** The owners of what it has claimed in a processed store, one for each claim. */
  readonly owners: string[] = [];
  /** The runs of this job that were killed. */
  readonly killed: readonly Course[];
  readonly #owner: string;
  /** The points so far, in order. */
  readonly passed: Point[] = [];
  /** Resolves when the run stops at its point. */
  readonly stopped: Promise<void>;
  readonly #stop: Point | undefined;
  #tellStopped: () => void = () => {};
  #stays = false;
  /** Everything that waits at a point: handlers may do several things at once. */
  #waiting: (() => void)[] = [];

  constructor(owner: string, killed: readonly Course[], stop: Point | undefined) {
    this.#owner = owner;
    this.killed = killed;
    this.#stop = stop;
    this.stopped = new Promise((resolve) => {
      this.#tellStopped = resolve;
    });
  }

  nextOwner(): string {
    const owner = `${this.#owner}_${this.owners.length + 1}`;
    this.owners.push(owner);
    return owner;
  }

  /** `work` as this run. */
  run<T>(work: () => T): T {
    return courses.run(this, work);
  }

  /**
   * Comes to a point. When the run has stopped at one, it stays at every other that something else
   * in it comes to.
   */
  async arrive(place: Place, name: string): Promise<void> {
    const before = this.passed.filter((point) => point.place === place && point.name === name);
    const point = { place, name, time: before.length + 1 };
    this.passed.push(point);
    if (same(point, this.#stop)) {
      this.#stays = true;
      this.#tellStopped();
    }
    if (this.#stays) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Lets the run pass no further point: for one that waits for something when it is killed. */
  freeze(): void {
    this.#stays = true;
  }

  /** Lets a run go on that was stopped. */
  release(): void {
    this.#stays = false;
    for (const goOn of this.#waiting.splice(0)) {
      goOn();
    }
  }
}
