// billing/migrate.js: brings the tables of ../../migrations into the database. It may run twice.

import { readdir, readFile } from "node:fs/promises";
import { db } from "./db.js";

const folder = new URL("../../migrations/", import.meta.url);

await db.all("create table if not exists migrations (name text primary key)");
for (const name of (await readdir(folder)).sort()) {
  if (await db.one("select name from migrations where name = $1", [name])) continue;
  const sql = await readFile(new URL(name, folder), "utf8");
  // Statements that are sent together are one transaction.
  await db.all(`${sql}; insert into migrations (name) values ('${name}')`);
  console.log(name);
}
