/** Scenarios of a network and a server that misbehave. */

import { createServer } from "node:net";
import { ApiError, ConnectionError, type Halyard, HalyardError } from "@halyard/node";
import { expect } from "vitest";
import { data, scenario } from "./file.js";
import { type Fate, LossyProxy } from "./proxy.js";
import { Player, type Scripted } from "./script.js";
import { client, rejection, withServer, withWorker } from "./work.js";

scenario("lost_answers", () => losing("lose answer"));
scenario("lost_requests", () => losing("lose request"));

/** Every request, or every answer, is lost the first time: all the same everything happens once. */
function losing(fate: Fate): Promise<void> {
  return withServer(async (server, sure) => {
    const proxy = await LossyProxy.losingFirst(server.url, fate);
    const lossy = client(proxy.url);
    const count = async (task: string) => (await sure.jobs.list({ task }).page()).data.length;

    const keyed = await lossy.jobs.create({ task: "keyed", idempotencyKey: "k" });
    const plain = await lossy.jobs.create({ task: "plain" });
    const ten = Array.from({ length: 10 }, () => lossy.jobs.create({ task: "joined" }));
    const joined = await Promise.all(ten);
    const batch = await lossy.jobs.createBatch([{ task: "batch" }, { task: "batch" }]);
    for (const job of [keyed, plain, ...joined, ...batch.map((result) => result.job)]) {
      expect(job?.replayed).toBe(false);
    }
    for (const [task, expected] of [
      ["keyed", 1],
      ["plain", 1],
      ["joined", 10],
      ["batch", 2],
    ] as const) {
      expect(await count(task), task).toBe(expected);
    }

    const { id } = plain;
    await lossy.jobs.cancel(id);
    await lossy.jobs.retry(id);
    expect((await sure.jobs.get(id)).life).toBe(2);
    await lossy.jobs.cancel(id);
    expect((await lossy.jobs.bulk("retry", [id]))[0]).toMatchObject({ ok: true, id });
    expect((await sure.jobs.get(id)).life).toBe(3);
    await lossy.jobs.runAsNew(id);
    expect(await count("plain")).toBe(2);
    await lossy.jobs.delete(id);
    expect(await count("plain")).toBe(1);

    await workThrough(sure, lossy);
    expect(proxy.seen.length).toBeGreaterThan(20);
    lossy.close();
    proxy.stop();
  });
}

/** A worker whose every call is lost once. */
async function workThrough(sure: Halyard, lossy: Halyard): Promise<void> {
  let runs = 0;
  await withWorker(
    lossy,
    (worker) =>
      worker
        .on("error", () => {})
        .task("work", async (job) => {
          runs += 1;
          await job.checkpoint("a");
          return job.step("b", () => 7);
        }),
    async () => {
      const { id } = await sure.jobs.create({ task: "work", queue: "q" });
      const job = await sure.jobs.wait(id);
      expect(job).toMatchObject({ state: "completed", starts: 1, crashes: 0, result: 7 });
      expect(job.checkpoints).toHaveLength(2);
      expect(runs).toBe(1);
    },
  );
}

scenario("temporary_refusals", () =>
  withServer(async (server, sure) => {
    const { id } = await sure.jobs.create({ task: "t" });
    const good = await (await fetch(`${server.url}/v1/jobs/${id}`)).text();
    const scripts = data<{ answers: Scripted[]; ends: number }[]>("temporary_refusals", "scripts");
    for (const { answers, ends } of scripts) {
      const played = answers.map((one) => (one.status === 200 ? { ...one, body: good } : one));
      const player = await Player.start(played);
      const halyard = client(player.url);
      if (ends === 200) {
        expect((await halyard.jobs.get(id)).id).toBe(id);
      } else {
        expect((await rejection(halyard.jobs.get(id), ApiError)).status).toBe(ends);
      }
      expect(player.times).toHaveLength(answers.length);
      for (const [n, { retry_after: asked }] of answers.entries()) {
        const next = player.times[n + 1];
        if (next !== undefined && Number(asked) > 0) {
          const wait = next - (player.times[n] as number);
          expect(wait).toBeGreaterThanOrEqual(Number(asked) * 1000);
        }
      }
      halyard.close();
      player.stop();
    }
  }),
);

interface Silence {
  answers: Scripted[];
  retry_for_ms: number;
  requests: number;
  ends: number | null;
}

scenario("silence", async () => {
  for (const script of data<Silence[]>("silence", "scripts")) {
    const job =
      '{"id":"job_1","state":"queued","tags":[],"backoff":{},"checkpoints":[],"attempts":[]}';
    const player = await Player.start(script.answers.map((one) => ({ ...one, body: job })));
    const halyard = client(player.url, { timeout: "2s", retryFor: script.retry_for_ms });
    if (script.ends === null) {
      const error = await rejection(halyard.jobs.get("job_1"), ConnectionError);
      expect(error.message).toBe(`no answer from ${player.url} in time`);
    } else {
      expect((await halyard.jobs.get("job_1")).id).toBe("job_1");
    }
    expect(player.times).toHaveLength(script.requests);
    halyard.close();
    player.stop();
  }
});

interface NotThere {
  call: "by_key" | "delete" | "forget_key";
  answers: Scripted[];
  ends: number | null;
}

scenario("not_there", async () => {
  for (const script of data<NotThere[]>("not_there", "scripts")) {
    const player = await Player.start(script.answers);
    const { jobs } = client(player.url);
    const call = {
      by_key: async () => expect(await jobs.byKey("t", "k")).toBeNull(),
      delete: () => jobs.delete("job_1"),
      forget_key: () => jobs.forgetKey("job_1"),
    }[script.call];
    if (script.ends === null) {
      await call();
    } else {
      const error = await rejection(call(), ApiError);
      expect(error.status, JSON.stringify(script)).toBe(script.ends);
    }
    expect(player.times).toHaveLength(script.answers.length);
    player.stop();
  }
});

scenario("odd_answers", async () => {
  for (const answer of data<Scripted[]>("odd_answers", "answers")) {
    const player = await Player.start([answer]);
    const halyard = client(player.url);
    const error = await rejection(halyard.jobs.get("job_1"), HalyardError);
    expect(error.status, JSON.stringify(answer)).toBe(answer.status);
    expect(error.message).toContain(String(answer.status));
    expect(error.message).toContain(answer.message ?? "");
    expect(error.message).not.toContain("secret");
    if (answer.code !== undefined) {
      expect((error as ApiError).code).toBe(answer.code);
    }
    expect(player.times).toHaveLength(1);
    halyard.close();
    player.stop();
  }
});

scenario("not_running", async () => {
  // A port that was free a moment ago.
  const listener = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  const url = `http://127.0.0.1:${port}`;
  const halyard = client(url, { retryFor: 0 });
  // A message is often all that is shown, so it says what the system said.
  const refused = `connect ECONNREFUSED 127.0.0.1:${port}`;
  const words = `cannot reach ${url}: is \`halyard serve\` running? (${refused})`;
  for (const call of [halyard.jobs.get("job_1"), halyard.health()]) {
    expect((await rejection(call, ConnectionError)).message).toBe(words);
  }
  const results = await halyard.jobs.createBatch([{ task: "t" }, { task: "t" }]);
  expect(results.map(({ error }) => error?.message)).toEqual([words, words]);
});
