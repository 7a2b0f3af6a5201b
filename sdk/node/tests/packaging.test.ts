/**
 * The package as it is published: its archive is installed into an empty project, which creates and
 * works a job; and what publint and "are the types wrong" have to say about it.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const here = fileURLToPath(new URL("..", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "halyard-package-"));
let archive = "";
let files: string[] = [];

beforeAll(async () => {
  const pack = ["pack", "--json", "--pack-destination", project];
  const { stdout } = await run("npm", pack, { cwd: here });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  archive = join(project, packed.filename);
  files = packed.files.map((file) => file.path);
});

afterAll(() => rmSync(project, { recursive: true }));

const PROGRAM = `
import { Halyard, NonRetryableError } from "@halyard/node";
import { fakeJob, startServer } from "@halyard/node/testing";

const server = await startServer();
const halyard = new Halyard({ url: server.url });
const worker = halyard.worker({ queues: ["q"], lease: "5s" });
worker.task("t", async (job) => {
  await job.checkpoint("a");
  // Longer than a second: its lease is renewed by the thread of the package.
  const until = performance.now() + 2500;
  while (performance.now() < until);
  return fakeJob({ id: job.id }).id;
});
await worker.start();
const { id } = await halyard.jobs.create({ task: "t", queue: "q" });
const job = await halyard.jobs.wait(id);
await worker.stop();
console.log(JSON.stringify([job.state, job.result === id, NonRetryableError.name]));
await server.stop();
`;

test("an empty project creates and works a job", async () => {
  writeFileSync(join(project, "package.json"), '{"name":"empty","type":"module"}');
  writeFileSync(join(project, "program.js"), PROGRAM);
  const install = ["install", "--offline", "--no-audit", "--no-fund", archive];
  await run("npm", install, { cwd: project });
  const { stdout, stderr } = await run(process.execPath, ["program.js"], { cwd: project });
  expect(JSON.parse(stdout)).toEqual(["completed", true, "NonRetryableError"]);
  expect(stderr).toBe("");
});

test("its types are whole, and need no more than Node's own", async () => {
  writeFileSync(join(project, "typed.ts"), 'export * from "@halyard/node";\n');
  writeFileSync(join(project, "tested.ts"), 'export * from "@halyard/node/testing";\n');
  const compilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: false, module: "nodenext", target: "es2022" },
    // As TypeScript 6 and newer do it: no types but those that somebody asks for.
    ...{ types: [], typeRoots: [join(here, "node_modules", "@types")] },
  };
  const config = { compilerOptions, files: ["typed.ts", "tested.ts"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  await run(join(here, "node_modules", ".bin", "tsc"), [], { cwd: project });
});

const MATCHED = `
import "@halyard/node/testing/vitest";
import { proveIdempotent } from "@halyard/node/testing";
import { expect } from "vitest";

const proof = { world: () => 1, reset: () => {} };
expect(await proveIdempotent(() => 1, proof)).toBeIdempotent();
`;

test("its matcher has its type, imported before Vitest", async () => {
  writeFileSync(join(project, "matched.ts"), MATCHED);
  symlinkSync(join(here, "node_modules", "vitest"), join(project, "node_modules", "vitest"));
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
  const types = ["--types", "node", "--typeRoots", join(here, "node_modules", "@types")];
  const tsc = join(here, "node_modules", ".bin", "tsc");
  const file = join(project, "matched.ts");
  await run(tsc, [...options, ...types, "--skipLibCheck", file], { cwd: project });
});

test("only what a user needs is in the archive", () => {
  expect(files).toContain("README.md");
  expect(files).toContain("dist/LICENSE-MIT");
  expect(files).toContain("dist/worker/heartbeat-thread.js");
  const others = files.filter((file) => !/^(dist\/|README\.md$|package\.json$)/.test(file));
  expect(others).toEqual([]);
  expect(files.filter((file) => !/\.(js|d\.ts|md|json)$|LICENSE-\w+$/.test(file))).toEqual([]);
});

test("publint and the types' judge have nothing to say", async () => {
  const bin = join(here, "node_modules", ".bin");
  const publint = await run(join(bin, "publint"), ["--strict", archive], { cwd: here });
  expect(publint.stdout).toContain("All good!");
  // The profile leaves out what cannot be had from a package of ES modules only.
  const attw = await run(join(bin, "attw"), ["--profile", "esm-only", archive], { cwd: here });
  expect(attw.stdout).toContain("node16 (from ESM): 🟢");
});
