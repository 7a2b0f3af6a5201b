// billing/test-setup.js: what each file of tests gets, before it is loaded: a database of its own,
// with all migrations, and a payment provider of its own (`halyard demo-provider`).

import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll } from "vitest";

const { HALYARD_BIN, HALYARD_TEST_POSTGRES_URL } = process.env;
if (!HALYARD_BIN || !HALYARD_TEST_POSTGRES_URL) {
  throw new Error("name the program in HALYARD_BIN, and run this by: scripts/services run …");
}

const name = `billing_${randomUUID().replaceAll("-", "")}`;
const database = new URL(HALYARD_TEST_POSTGRES_URL);
database.pathname = `/${name}`;
await administer(`create database ${name}`);
process.env.DATABASE_URL = database.href;
await promisify(execFile)(process.execPath, [
  fileURLToPath(new URL("./migrate.js", import.meta.url)),
]);

const provider = spawn(HALYARD_BIN, ["demo-provider", "--listen", "127.0.0.1:0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [greeting] = await once(createInterface({ input: provider.stdout }), "line");
provider.unref();
provider.stdout.unref();
process.on("exit", () => provider.kill("SIGKILL"));
process.env.STRIPE_API_URL = greeting.replace("listening on ", "");

afterAll(async () => {
  const { db } = await import("./db.js");
  await db.close();
  provider.kill("SIGKILL");
  await administer(`drop database ${name} with (force)`);
});

async function administer(sql) {
  const client = new pg.Client({ connectionString: HALYARD_TEST_POSTGRES_URL });
  await client.connect();
  await client.query(sql);
  await client.end();
}
