/** Every test plays a course of events and looks at what the worker does about each. */

import { expect, test } from "vitest";
import { CANCEL, LOST } from "../../src/worker/lease-table.js";
import { Streak } from "../../src/worker/streak.js";
import type { Ending } from "../../src/worker/verdict.js";
import { broken, Course, claimedJob, DONE, trouble } from "./course.js";

const SECOND = 1_000;
const error = { type: "Error", message: "no", stack: undefined };
const FAILED: Ending = { kind: "failed", error, retryable: true, retryAfterMs: undefined };
const OK = { status: "ok" } as const;

test("claims only what can start", () => {
  const course = new Course(3);
  expect(course.poll()).toEqual(["claim 3 for 20000 as wrk_1:1"]);
  expect(course.poll()).toEqual([]);
  course.claimed(1, 2);
  expect(course.poll()).toEqual(["begin 1", "begin 2", "claim 1 for 20000 as wrk_1:2"]);
  course.claimed(2, 1);
  expect(course.poll()).toEqual(["begin 3"]);
  course.ended(1);
  course.ended(3, FAILED);
  const next = [
    "failed job_3",
    "claim 2 for 20000 as wrk_1:3",
    "report job_1=completed job_3=failed",
  ];
  expect(course.poll()).toEqual(next);
});

test("a broken connection is told only when the repeat fails too", () => {
  const course = Course.running(1, 1);
  course.ended(1);
  course.poll();
  for (const told of [[], ["broken"], []]) {
    course.board.reportFailed(course.now, broken(), 0);
    expect(course.poll()).toEqual(told);
    expect(course.pass(SECOND)).toContain("report job_1=completed");
  }
});

test("failures in a row", () => {
  // Calls that broke, were answered with an error, or went well; and where trouble is told.
  for (const [calls, wanted] of [
    ["-.-.-.", "      "],
    ["---.--", " !   !"],
    ["5-5.5", "!   !"],
    ["-5-", " ! "],
  ] as const) {
    const streak = new Streak();
    const step = (call: string) => {
      if (call === ".") {
        streak.answered();
        return " ";
      }
      return streak.failed(call === "-") ? "!" : " ";
    };
    expect([...calls].map(step).join(""), calls).toBe(wanted);
  }
});

test("reports that nobody takes stop the claims", () => {
  const course = Course.running(1, 1);
  course.ended(1);
  expect(course.poll()).toEqual(["claim 1 for 20000 as wrk_1:2", "report job_1=completed"]);
  course.claimed(2, 1);
  course.poll();
  course.ended(2);
  expect(course.poll()).toEqual([]);
  course.board.reported(course.now, [OK]);
  expect(course.poll()).toEqual(["claim 1 for 20000 as wrk_1:3", "report job_2=completed"]);
});

test("a job whose lease may be over is not started", () => {
  const sooner = claimedJob(1);
  // The times of this one count from the claim.
  sooner.lease.deadline_in_ms += 1;
  for (const [job, stillMs, looks, begins] of [
    [sooner, 61 * SECOND, false, false],
    [claimedJob(1), 61 * SECOND, false, false],
    // The clock is looked at before the answer is read.
    [claimedJob(1), 61 * SECOND, true, false],
    [claimedJob(1), 50 * SECOND, true, true],
  ] as const) {
    const course = new Course(1);
    const [sent, done] = [course.now, course.poll()];
    // The answer came now, and is read by a process that was frozen meanwhile.
    course.now += stillMs;
    if (looks) {
      course.poll();
      course.now += 1;
    }
    course.board.claimed(course.now, 1, sent, [job], false);
    course.beginAll();
    done.push(...course.poll());
    expect(done.includes("begin 1")).toBe(begins);
    expect(done.includes("report job_1=released")).toBe(!begins);
    // What is left of its lease counts from when it came.
    expect(course.pass(11 * SECOND).includes("lost job_1 lease_lost")).toBe(begins);
  }
});

test("the times of a job count from the answer when the worker has gone on all the time", () => {
  const course = new Course(1);
  const sent = course.now;
  course.poll();
  course.pass(19 * SECOND);
  course.claimed(1, 1, sent);
  expect(course.poll()).toEqual(["begin 1"]);
  expect(course.pass(59 * SECOND)).toEqual([]);
  expect(course.pass(SECOND)).toEqual(["lost job_1 lease_lost", "abort job_1 lease_lost"]);
});

test("a job whose lease is over when its turn comes is not started", () => {
  const course = new Course(4);
  course.poll();
  const jobs = [1, 2, 3, 4].map(claimedJob);
  course.board.claimed(course.now, 1, course.now, jobs, false);
  course.board.beginNext(course.now);
  // Its handler blocks the program, and heartbeats go on, but that of job 4 fails.
  course.now += 40 * SECOND;
  course.beaten(1);
  course.beaten(2);
  course.beaten(3, { status: LOST });
  course.now += 40 * SECOND;
  course.beginAll();
  const done = course.poll();
  expect(done).toContain("begin 2");
  expect(done).not.toContain("begin 3");
  expect(done).toContain("lost job_4 lease_lost");
  expect(done).not.toContain("begin 4");
});

test("a claim is repeated under its id", () => {
  const course = new Course(1);
  course.poll();
  course.claimFailed(1, 503);
  expect(course.pass(SECOND)).toEqual(["trouble 503", "claim 1 for 20000 as wrk_1:1 again"]);
  course.claimFailed(2, 500);
  expect(course.pass(SECOND)).toEqual(["claim 1 for 20000 as wrk_1:1 again"]);
  course.claimed(1, 1);
  expect(course.poll()).toEqual([]);
  course.claimed(3, 0);
  expect(course.pass(SECOND)).toEqual(["idle", "claim 1 for 20000 as wrk_1:4"]);
});

test("a refused claim is not repeated at once", () => {
  const course = new Course(1);
  course.poll();
  course.claimFailed(1, 401);
  expect(course.pass(SECOND - 1)).toEqual(["trouble 401"]);
  expect(course.pass(1)).toEqual(["claim 1 for 20000 as wrk_1:2"]);
});

test("a lease that is renewed goes on, and one that is not lapses", () => {
  const course = Course.running(1, 1);
  expect(course.pass(50 * SECOND)).toEqual([]);
  course.beaten(1);
  expect(course.pass(59 * SECOND)).toEqual([]);
  expect(course.pass(SECOND)).toEqual(["lost job_1 lease_lost", "abort job_1 lease_lost"]);
  // The server was away, and gave the lease a fresh length: the job need not wait for its end.
  course.ended(1);
  expect(course.poll()).toContain("report job_1=released");
});

test("a lost lease throws the result away", () => {
  const course = Course.running(1, 1);
  course.beaten(1, { status: LOST });
  expect(course.poll()).toEqual(["lost job_1 lease_lost", "abort job_1 lease_lost"]);
  // Patience has an end, and nothing is reported.
  expect(course.pass(5 * SECOND)).toEqual(["claim 1 for 20000 as wrk_1:2"]);
  course.ended(1);
  expect(course.poll()).toEqual([]);
});

test("at the deadline nothing is reported", () => {
  const course = Course.running(1, 1);
  for (let n = 0; n < 89; n += 1) {
    expect(course.pass(10 * SECOND)).toEqual([]);
    course.beaten(1);
  }
  const done = course.pass(10 * SECOND);
  expect(done).toEqual(["lost job_1 timed_out", "abort job_1 timed_out"]);
  course.ended(1);
  expect(course.poll()).toEqual(["claim 1 for 20000 as wrk_1:2"]);
});

test("a handler that blocked past its deadline reports nothing", () => {
  const course = Course.running(1, 1);
  course.now += 901 * SECOND;
  course.ended(1);
  const done = course.poll();
  expect(done).toContain("lost job_1 timed_out");
  expect(done.join()).not.toContain("report");
});

test("a cancel is reported whatever the handler returns", () => {
  for (const ending of [DONE, FAILED, { kind: "dropped" } as const]) {
    const course = Course.running(1, 1);
    course.board.told(course.now, course.held(1), "cancelled");
    expect(course.poll()).toEqual(["cancelled job_1", "abort job_1 cancelled"]);
    course.board.told(course.now, course.held(1), "cancelled");
    expect(course.poll()).toEqual([]);
    course.ended(1, ending);
    expect(course.poll()).toContain("report job_1=cancelled");
  }
});

test("a cancel in a heartbeat", () => {
  const course = Course.running(1, 1);
  course.beaten(1, { status: CANCEL });
  expect(course.poll()).toEqual(["cancelled job_1", "abort job_1 cancelled"]);
  expect(course.pass(5 * SECOND)).toContain("report job_1=cancelled");
});

test("a late report is told, and not sent again", () => {
  for (const status of ["lease_lost", "conflict", "not_found"] as const) {
    const course = Course.running(1, 1);
    course.ended(1);
    course.poll();
    course.board.reported(course.now, [{ status }]);
    expect(course.poll()).toEqual(["lost job_1 lease_lost"]);
    expect(course.board.table.leases(course.now)).toEqual([]);
  }
});

test("a result that the server refused is told as a failure", () => {
  for (const [result, told] of [
    [{ ...OK, state: "failed" }, ["failed job_1"]],
    [{ ...OK, state: "completed" }, []],
    // A repeat is answered with what the job is by now.
    [{ ...OK, state: "failed", repeated: true }, []],
  ] as const) {
    const course = Course.running(1, 1);
    course.ended(1);
    course.poll();
    course.board.reported(course.now, [result]);
    expect(course.poll()).toEqual(told);
  }
  const failed = Course.running(1, 1);
  failed.ended(1, FAILED);
  failed.poll();
  failed.board.reported(failed.now, [{ ...OK, state: "failed" }]);
  expect(failed.poll()).toEqual([]);
});

test("a start is told to be lost once", () => {
  const course = Course.running(1, 1);
  expect(course.pass(60 * SECOND)).toEqual(["lost job_1 lease_lost", "abort job_1 lease_lost"]);
  course.ended(1);
  expect(course.poll()).toContain("report job_1=released");
  course.board.reported(course.now, [{ status: "lease_lost" }]);
  expect(course.poll()).toEqual([]);
});

test("what an ending worker has given back is counted", () => {
  const course = Course.running(2, 2);
  course.board.stop(course.now);
  expect(course.board.running).toBe(2);
  course.ended(1);
  course.poll();
  course.board.reported(course.now, [OK]);
  expect([course.board.running, course.board.givenBack]).toEqual([1, 0]);
  course.pass(25 * SECOND);
  course.pass(SECOND);
  course.board.reported(course.now, [OK]);
  expect([course.board.running, course.board.givenBack]).toEqual([0, 1]);
});

test("idle is told once", () => {
  const course = new Course(1);
  expect(course.pass(SECOND)).toEqual(["claim 1 for 20000 as wrk_1:1", "idle"]);
  expect(course.pass(SECOND)).toEqual([]);
  course.claimed(1, 1);
  expect(course.pass(SECOND)).toEqual(["begin 1"]);
  course.ended(1);
  course.poll();
  course.board.reported(course.now, [OK]);
  expect(course.pass(SECOND)).toEqual(["idle"]);
});

test("a worker without jobs ends at once", () => {
  const course = new Course(1);
  course.poll();
  course.board.stop(course.now);
  expect(course.poll()).toEqual(["hang up", "drain", "claim 1 for 0 as wrk_1:1 again"]);
  course.claimed(2, 1);
  // What the lost answer had leased is given back.
  expect(course.poll()).toEqual(["report job_1=released"]);
  course.board.reported(course.now, [OK]);
  course.poll();
  expect(course.board.isDone).toBe(false);
  course.board.drained();
  course.poll();
  expect(course.board.isDone).toBe(true);
});

test("a server that is away does not hold up the end", () => {
  const course = new Course(1);
  course.poll();
  course.claimFailed(1, 503);
  course.board.stop(course.now);
  course.poll();
  course.board.drained();
  for (const number of [2, 3]) {
    course.claimFailed(number, 503);
    course.pass(SECOND);
  }
  expect(course.board.isDone).toBe(true);
});

test("handlers get their time when the worker ends", () => {
  const course = Course.running(2, 2);
  course.board.stop(course.now);
  course.board.stop(course.now);
  expect(course.poll()).toEqual(["drain"]);
  course.board.drained();
  course.ended(1);
  expect(course.poll()).toEqual(["report job_1=completed"]);
  course.board.reported(course.now, [OK]);
  expect(course.pass(25 * SECOND - 1)).toEqual([]);
  expect(course.pass(1)).toEqual(["abort job_2 worker_stopped"]);
  expect(course.pass(SECOND)).toEqual(["report job_2=released"]);
  // What comes too late is thrown away.
  course.ended(2);
  expect(course.poll()).toEqual([]);
  course.board.reported(course.now, [OK]);
  course.poll();
  expect(course.board.isDone).toBe(true);
});

test("the end has an end", () => {
  const course = Course.running(1, 1);
  course.board.stop(course.now);
  const begin = course.now;
  while (!course.board.isDone) {
    for (const word of course.pass(500)) {
      if (word.startsWith("report")) {
        course.board.reportFailed(course.now, trouble(503), 0);
      }
    }
    // A process manager would kill.
    expect(course.now - begin).toBeLessThan(30 * SECOND);
  }
});

test("a report that the server refuses goes without its text, and at last not at all", () => {
  const course = Course.running(2, 2);
  course.ended(1);
  course.ended(2, FAILED);
  expect(course.poll()[2]).toBe("report job_1=completed job_2=failed");
  course.board.reportFailed(course.now, trouble(413), 0);
  expect(course.poll()).toEqual(["trouble 413", "report job_1=completed"]);
  course.board.reportFailed(course.now, trouble(413), 0);
  expect(course.poll()).toEqual(["report job_1=failed"]);
  course.board.reportFailed(course.now, trouble(400), 0);
  expect(course.poll()).toEqual(["report job_2=failed"]);
  course.board.reported(course.now, [OK]);
  expect(course.board.table.leases(course.now)).toEqual([]);
});

test("a failure that is not reported as one is not told as one", () => {
  const course = Course.running(2, 2);
  course.board.told(course.now, course.held(1), "cancelled");
  course.ended(1, FAILED);
  course.board.told(course.now, course.held(2), "lease_lost");
  course.ended(2, FAILED);
  const told = course.poll().filter((done) => !done.startsWith("claim"));
  expect(told).toEqual([
    "cancelled job_1",
    "abort job_1 cancelled",
    "lost job_2 lease_lost",
    "abort job_2 lease_lost",
    "report job_1=cancelled",
  ]);
});

test("a report that got no result goes again", () => {
  const course = Course.running(2, 2);
  course.ended(1);
  course.ended(2, { kind: "snoozed", delayMs: 1_000 });
  expect(course.poll()).toContain("report job_1=completed job_2=snoozed:1000");
  course.board.reported(course.now, [OK]);
  expect(course.pass(SECOND)).toEqual(["report job_2=snoozed:1000"]);
});
