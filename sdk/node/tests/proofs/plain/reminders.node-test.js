// Proofs under node:test; run by odd.test.ts.

import assert from "node:assert";
import test from "node:test";
import { assertIdempotent, proveIdempotent } from "@halyard/node/testing";
import { outbox } from "./outbox.js";
import remind, { remindFromMemory } from "./reminders.js";

const options = {
  world: () => ({ mails: outbox.mails.length }),
  reset: () => {
    outbox.mails = [];
  },
  module: import.meta.resolve("./reminders.js"),
};

test("a key per job", async () => {
  assertIdempotent(await proveIdempotent(remind, options));
});

test("state in a module is lost with its process", async () => {
  const report = await proveIdempotent(remindFromMemory, options);
  const [{ message }] = report.findings;
  assert.equal(message, "`mails` is 2, 1 was expected, after: run, killed at `sent`, run again");
  assert.throws(() => assertIdempotent(report), assert.AssertionError);
});
