/** How the first job gets through. Each step ticks itself, and stays until a job is through. */
import { useState } from "preact/hooks";

import { list, type Stats, workers } from "../../api/calls.ts";
import { isOpen, session } from "../../live/access.ts";
import { useResource } from "../../live/resource.ts";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/shown.tsx";
import { jobPath } from "../../url/query.ts";
import { LANGUAGES, type Language, type Seen, WAYS } from "./steps.ts";

interface Props {
  stats: Stats;
  onClose: () => void;
}

export function FirstRun({ stats, onClose }: Props) {
  const [language, setLanguage] = useState<Language>("curl");
  const { created, completed } = stats.totals;
  const seen = useResource(`first-run ${created > 0}`, async () => {
    const oldest = new URLSearchParams({ order: "asc", limit: "1" });
    const [all, jobs] = await Promise.all([workers(), created > 0 ? list(oldest) : { data: [] }]);
    return { workers: all.data.length, job: jobs.data[0] };
  });
  const done: Record<Seen, boolean> = {
    created: created > 0,
    worker: (seen.data?.workers ?? 0) > 0 || completed > 0,
    completed: completed > 0,
  };
  if (session.value?.read_only)
    return <Empty>There is no job yet, and none is created on a read-only server.</Empty>;
  const way = WAYS[language](location.origin, !isOpen.value);
  return (
    <section class="first-run" aria-labelledby="first-run">
      <h2 id="first-run">{done.completed ? "Your first job is through" : "Your first job"}</h2>
      <p class="lead" role="status">
        {done.completed ? (
          <>
            Its page shows what it was given, what came of it, and who did it:{" "}
            {seen.data?.job && <a href={jobPath(seen.data.job.id)}>{seen.data.job.task}</a>}
          </>
        ) : (
          "There is no job yet, or none is through. Do these steps in a terminal: " +
          "each is ticked here as soon as the server has seen it."
        )}
      </p>
      {created > 0 && (
        <p>
          <button type="button" class="small" onClick={onClose}>
            Close these steps
          </button>
        </p>
      )}
      {!isOpen.value && (
        <p class="lead">
          Put a key of the role worker into <code>HALYARD_API_KEY</code> first.
        </p>
      )}
      <fieldset class="tabs">
        <legend class="unseen">Language</legend>
        {LANGUAGES.map((it) => (
          <button
            key={it}
            type="button"
            aria-pressed={it === language}
            onClick={() => setLanguage(it)}
          >
            {it}
          </button>
        ))}
      </fieldset>
      <div>
        {way.before && (
          <div>
            <h3>{way.before.title}</h3>
            <Code {...way.before} />
          </div>
        )}
        <ol class="steps">
          {way.steps.map((step, index) => (
            <li key={step.title}>
              <h3>
                <Tick done={done[step.seenAs]} number={index + 1} /> {step.title}
              </h3>
              <Code {...step} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Tick({ done, number }: { done: boolean; number: number }) {
  return (
    <span class={done ? "tick done" : "tick"}>
      <span aria-hidden="true">{done ? "✓" : number}</span>
      <span class="unseen">{done ? "done:" : ""}</span>
    </span>
  );
}

function Code({ title, code }: { title: string; code: string }) {
  return (
    <div class="code">
      <Copy text={code} label={`Copy: ${title}`} />
      <pre tabIndex={0}>{code}</pre>
    </div>
  );
}
