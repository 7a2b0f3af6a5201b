/** The table of leases and when they are renewed. */

import { expect, test } from "vitest";
import { dueLeases, intervalOf, renewAt } from "../../src/worker/beater.js";
import { Held } from "../../src/worker/held.js";
import { CANCEL, LeaseTable } from "../../src/worker/lease-table.js";
import { claimedJob } from "./course.js";

test("a row is seen by the other side as long as it is held", () => {
  const table = new LeaseTable(2);
  const other = new LeaseTable(2, table.memory);
  const now = 5_000_000_000_000.5;
  const [first, second] = [table.take(1, '{"id":"é"}', now - 10), table.take(2, "{}", now + 10)];
  expect(table.take(3, "{}", now)).toBe(-1);
  table.end(second, now - 1);
  const leases = other.leases(now);
  expect(leases.map(({ start, text }) => [start, text])).toEqual([
    [1, '{"id":"é"}'],
    [2, "{}"],
  ]);
  expect(leases[0]?.ended).toBeUndefined();
  expect(leases[0]?.renewed).toBeCloseTo(now - 10, -1);
  expect(leases[1]?.ended).toBeCloseTo(now - 1, -1);

  expect(table.said(first, 1, now)).toBeUndefined();
  other.say(leases[0] as (typeof leases)[0], { expires: now + 60_000, status: CANCEL });
  expect(table.said(first, 1, now)?.status).toBe(CANCEL);
  expect(table.said(first, 1, now)?.expires).toBeCloseTo(now + 60_000, -1);

  // What was said about the start before is nothing that the next one hears.
  table.release(first);
  expect(table.take(3, "{}", now)).toBe(first);
  expect(table.said(first, 3, now)).toBeUndefined();
  expect(other.leases(now).map((lease) => lease.start)).toEqual([3, 2]);
});

test("a lease that is too long has no row", () => {
  expect(new LeaseTable(1).take(1, "x".repeat(600), 0)).toBe(-1);
  const table = new LeaseTable(1);
  table.release(-1);
  table.end(-1, 0);
  expect(table.said(-1, 1, 0)).toBeUndefined();
});

test("leases are renewed together, before a third of them has passed twice", () => {
  const [lease, interval] = [60_000, intervalOf(60_000)];
  expect([interval, intervalOf(6_000), intervalOf(3_600_000)]).toEqual([10_000, 2_000, 10_000]);
  const row = (start: number, renewed: number, ended?: number) => {
    return { row: start, start, renewed, ended, text: "" };
  };
  const rows = [row(1, 0), row(2, 4_000), row(3, 6_000)];
  expect(dueLeases(rows, 9_999, interval)).toEqual([]);
  expect(dueLeases(rows, 10_000, interval).map((one) => one.start)).toEqual([1, 2]);
  // A report under way ends the lease by itself.
  expect(renewAt(row(1, 0, 9_500), interval)).toBe(10_500);
  expect(renewAt(row(1, 0, 1_000), interval)).toBe(10_000);
  expect(dueLeases([row(1, Number.POSITIVE_INFINITY)], lease, interval)).toEqual([]);
});

test("times after a claim that has waited", () => {
  // The claim came at 981 s by the server's clock and waited for 19 s; the job takes 2 s.
  const [sent, received] = [500_000, 519_000];
  for (const [deadline, expires] of [
    [2_000, 1_500],
    [21_000, 20_500],
  ] as const) {
    const job = claimedJob(1);
    job.lease.deadline = new Date(1_002_000).toISOString();
    job.lease.deadline_in_ms = deadline;
    job.lease.expires_in_ms = expires;
    const held = new Held(job, 1, sent, received, 10_000);
    expect(held.deadline).toBe(521_000);
    expect(held.expires).toBe(520_500);
    expect(held.renewed + 10_000).toBe(received + 1_000);
  }
});
