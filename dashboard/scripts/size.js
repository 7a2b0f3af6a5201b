// Fails when the built page is larger than its marks, compressed as the server sends it.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MARKS = { js: 80_000, css: 15_000 };

const sizes = { js: 0, css: 0 };
for (const name of readdirSync("built/dist/assets")) {
  const kind = name.split(".").pop();
  if (kind in sizes)
    sizes[kind] += gzipSync(readFileSync(`built/dist/assets/${name}`), { level: 9 }).length;
}
for (const [kind, bytes] of Object.entries(sizes)) {
  console.log(`${kind}: ${bytes} bytes compressed, ${MARKS[kind]} at most`);
  if (bytes === 0 || bytes > MARKS[kind]) process.exitCode = 1;
}
