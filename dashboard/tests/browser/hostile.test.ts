/** Whatever a job holds is shown as text: nothing in it is run, loaded, or asked for. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

const CANARY = "http://canary.test";
const HOSTILE = [
  "<script>alert(1)</script>",
  `<img src=${CANARY}/x onerror=alert(1)>`,
  `"><img src=${CANARY}/y>`,
  "'><svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<svg><animate onbegin=alert(1) attributeName=x></svg>",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)//",
  "data:text/html,<script>alert(1)</script>",
  `<iframe src=${CANARY}></iframe>`,
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  `<link rel=stylesheet href=${CANARY}/c>`,
  `<style>@import '${CANARY}/d'</style>`,
  `<style>*{background:url(${CANARY}/e)}</style>`,
  `<object data=${CANARY}/f></object>`,
  `<embed src=${CANARY}/g>`,
  `<base href=${CANARY}/>`,
  `<meta http-equiv=refresh content="0;url=${CANARY}/h">`,
  `<form action=${CANARY}/i><input autofocus onfocus=alert(1)></form>`,
  "<body onload=alert(1)>",
  "<details open ontoggle=alert(1)>",
  "<video><source onerror=alert(1)></video>",
  `<audio src=${CANARY}/j autoplay>`,
  "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
  "<template><script>alert(1)</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "</pre></textarea></title><script>alert(1)</script>",
  "<!--><script>alert(1)</script-->",
  "<![CDATA[<script>alert(1)</script>]]>",
  "{{constructor.constructor('alert(1)')()}}",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what somebody sends.
  "${alert(1)}",
  "<%= alert(1) %>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "&#60;img src=x onerror=alert(1)&#62;",
  "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
  "%3Cscript%3Ealert(1)%3C/script%3E",
  "\u202egnp.exe<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "../../../../etc/passwd",
];

let browser: Browser;
let server: Server;
const jobs: string[] = [];

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  for (const text of HOSTILE) {
    const { id } = await server.create({
      queue: "hostile",
      payload: { [text]: [text] },
      idempotency_key: text,
      max_attempts: 1,
    });
    jobs.push(id);
    const job = await server.claim("hostile", { id: "wrk_test", name: text, sdk: text });
    const checkpoint = { token: job.lease.token, name: text, value: text };
    await server.call("POST", `/v1/jobs/${id}/checkpoints`, checkpoint);
    const error = { type: text, message: text, stack: text };
    await server.finish(job, { outcome: "failed", error });
  }
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

test("forty strings in every field on every page", { timeout: 300_000 }, async () => {
  const { page, odd } = await reader(browser, server.url);
  for (const path of ["/", "/jobs", "/jobs?state=failed", "/queues", "/workers", "/tasks"]) {
    await visit(page, path);
  }
  for (const [index, text] of HOSTILE.entries()) {
    await visit(page, `/jobs/${jobs[index]}`);
    await page.locator("summary").click();
    expect(await page.locator("section.problem").innerText()).toContain(text);
    expect(await page.locator(".start pre").innerText()).toBe(text);
    await visit(page, `/keys?${new URLSearchParams({ task: "charge", key: text })}`);
    await visit(page, `/jobs?${new URLSearchParams({ task: "charge", idempotency_key: text })}`);
    await visit(page, `/jobs/${encodeURIComponent(text)}`).catch(() => {});
  }
  // A job that is not there is a 404, which the browser tells in its console.
  expect(odd.filter((it) => !it.includes("404"))).toEqual([]);
});
