/** What the page says that somebody may not do, and what somebody did. */
import { afterEach, expect, test } from "vitest";
import type { AuditEntry, Role } from "../src/api/calls.ts";
import { type Act, forbidden, isAdmin, isOpen, session } from "../src/live/access.ts";
import { did, queueOf } from "../src/pages/audit/words.ts";

const EVERYBODY: Act[] = ["retry", "cancel", "run_now", "run_as_new"];
const ADMINS: Act[] = ["delete", "bulk", "pause", "forget_key", "api_keys"];

const as = (role: Role, more: { name?: string | null; read_only?: boolean } = {}) => {
  session.value = { role, name: "somebody", read_only: false, ...more };
};

afterEach(() => {
  session.value = undefined;
});

test.each(["producer", "worker"] as const)("a %s", (role) => {
  as(role);
  expect(EVERYBODY.map(forbidden)).toEqual(EVERYBODY.map(() => undefined));
  for (const act of ADMINS) expect(forbidden(act)).toContain(`role admin; yours has ${role}`);
  expect([isAdmin.value, isOpen.value]).toEqual([false, false]);
});

test("an admin, and anybody on an open server", () => {
  for (const name of ["somebody", null]) {
    as("admin", { name });
    expect([...EVERYBODY, ...ADMINS].map(forbidden).every((why) => why === undefined)).toBe(true);
    expect([isAdmin.value, isOpen.value]).toEqual([true, name === null]);
  }
});

test("nobody, on a read-only server", () => {
  as("admin", { read_only: true });
  for (const act of [...EVERYBODY, ...ADMINS]) expect(forbidden(act)).toContain("read-only");
});

test("what was done is told in words, also by a later server", () => {
  expect(did("run_as_new")).toBe("ran as new");
  expect(did("drop_table")).toBe("drop table");
  expect(did("constructor")).toBe("constructor");
});

test.each([
  ["pause", "billing", "billing"],
  ["resume", "billing", "billing"],
  ["create_key", "billing (key_1)", undefined],
  ["retry", null, undefined],
] as const)("%s of %s is about the queue %s", (action, target, queue) => {
  expect(queueOf({ action, target } as AuditEntry)).toBe(queue);
});
