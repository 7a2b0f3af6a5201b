/** A store without jobs: how the first one gets through. Each step ticks itself. */
import { useState } from "preact/hooks";

import { stats, workers } from "../../api/calls.ts";
import { isOpen, session } from "../../live/access.ts";
import { useResource } from "../../live/resource.ts";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/shown.tsx";
import { LANGUAGES, type Language, STEPS } from "./steps.ts";

export function FirstRun() {
  const [language, setLanguage] = useState<Language>("curl");
  const seen = useResource("first-run", async () => {
    const [numbers, all] = await Promise.all([stats(), workers()]);
    return { created: numbers.totals.created, workers: all.data.length };
  });
  const done = [(seen.data?.created ?? 0) > 0, (seen.data?.workers ?? 0) > 0];
  if (session.value?.read_only)
    return <Empty>There is no job yet, and none is created on a read-only server.</Empty>;
  return (
    <section class="first-run">
      <p class="lead">
        There is no job yet. Two steps, and one is through; this page sees by itself when they are
        done.
        {!isOpen.value && (
          <>
            {" "}
            Put a key of the role worker into <code>HALYARD_API_KEY</code> first.
          </>
        )}
      </p>
      <div role="tablist" aria-label="Language" class="tabs">
        {LANGUAGES.map((it) => (
          <button
            key={it}
            type="button"
            role="tab"
            id={`tab-${it}`}
            aria-selected={it === language}
            aria-controls="steps"
            onClick={() => setLanguage(it)}
          >
            {it}
          </button>
        ))}
      </div>
      <div id="steps" role="tabpanel" aria-labelledby={`tab-${language}`}>
        <ol class="steps">
          {STEPS[language](location.origin, !isOpen.value).map((step, index) => (
            <li key={step.title}>
              <h2>
                <span class={done[index] ? "tick done" : "tick"}>
                  <span aria-hidden="true">{done[index] ? "✓" : index + 1}</span>
                  <span class="unseen">{done[index] ? "done:" : ""}</span>
                </span>{" "}
                {step.title}
              </h2>
              <div class="code">
                <Copy text={step.code} label={`Copy: ${step.title}`} />
                <pre tabIndex={0}>{step.code}</pre>
              </div>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
