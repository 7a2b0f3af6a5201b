/**
 * How the page is built: everything that it needs is in files of its own, since its policy allows
 * no inline script or style. While it is developed, calls go to a server that runs beside.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { env } from "node:process";
import { gzipSync } from "node:zlib";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [{ name: "compress", closeBundle: compress }],
  build: {
    outDir: "built/dist",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: {
    proxy: {
      "/v1": env.HALYARD_URL ?? "http://127.0.0.1:7373",
      "/version": env.HALYARD_URL ?? "http://127.0.0.1:7373",
    },
  },
});

/** Compresses once what the server would compress for every reader. */
function compress(): void {
  const folder = `${import.meta.dirname}/built/dist/assets`;
  for (const name of readdirSync(folder).filter((it) => !it.endsWith(".gz"))) {
    const path = `${folder}/${name}`;
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}
