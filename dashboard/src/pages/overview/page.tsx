/** What goes on, and what needs somebody. */
import { useEffect, useState } from "preact/hooks";

import {
  type Queue,
  queues,
  type Stats,
  stats,
  type Task,
  tasks,
  type Worker,
  workers,
} from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { number, Shown } from "../../parts/shown.tsx";
import { now } from "../../parts/time.tsx";
import { jobsPath } from "../../url/query.ts";
import { silentQueues } from "../workers/who.tsx";
import { attention } from "./attention.ts";
import { Chart } from "./chart.tsx";
import { FirstRun } from "./first-run.tsx";
import { Queues } from "./queues.tsx";
import { isNew } from "./steps.ts";

const COUNTERS = ["queued", "running", "retrying", "scheduled"] as const;

export function OverviewPage() {
  const all = useResource("overview", async () => {
    const [numbers, lines, kinds, callers] = await Promise.all([
      stats(),
      queues(),
      tasks(),
      workers(),
    ]);
    return { stats: numbers, queues: lines.data, tasks: kinds.data, workers: callers.data };
  });
  return (
    <>
      <h1>Overview</h1>
      <Shown of={all}>
        {({ stats, queues, tasks, workers }) => (
          <>
            <Beginning stats={stats} />
            {stats.totals.created > 0 && (
              <>
                <Counters stats={stats} />
                <div class="columns">
                  <section class="card">
                    <h2>Jobs a minute, last 24 hours</h2>
                    <Chart minutes={stats.minutes} />
                  </section>
                  <section class="card">
                    <h2>Needs attention</h2>
                    <Attention queues={queues} tasks={tasks} workers={workers} />
                  </section>
                </div>
                <div class="columns">
                  <Queues queues={queues} workers={workers} />
                  <Safety totals={stats.totals} />
                </div>
              </>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

/** The first steps: begun on an empty server, they stay until a job is through and they are closed. */
function Beginning({ stats }: { stats: Stats }) {
  const [begun, setBegun] = useState(false);
  const [closed, setClosed] = useState(false);
  const fresh = isNew(stats);
  useEffect(() => {
    if (fresh) setBegun(true);
  }, [fresh]);
  if (closed || !(fresh || begun)) return null;
  return <FirstRun stats={stats} onClose={() => setClosed(true)} />;
}

function Counters({ stats }: { stats: Stats }) {
  const day = stats.minutes.reduce(
    (sum, minute) => ({
      completed: sum.completed + minute.completed,
      failed: sum.failed + minute.failed,
    }),
    { completed: 0, failed: 0 },
  );
  return (
    <ul class="counters" aria-label="Jobs by state">
      {COUNTERS.map((state) => (
        <li key={state}>
          <a href={jobsPath({ states: [state] })}>
            <strong>{number(stats.counts[state])}</strong> {state}
          </a>
        </li>
      ))}
      {(["completed", "failed"] as const).map((state) => (
        <li key={state}>
          <a href={jobsPath({ states: [state] })}>
            <strong>{number(day[state])}</strong> {state} in 24 h
          </a>
        </li>
      ))}
    </ul>
  );
}

function Attention(props: { queues: Queue[]; tasks: Task[]; workers: Worker[] }) {
  const notes = attention(props.queues, props.tasks, silentQueues(props.workers, now.value));
  if (notes.length === 0) return <p class="quiet">Nothing.</p>;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note.path + note.text}>
          <span aria-hidden="true">⚠</span> <a href={note.path}>{note.about}</a> {note.text}
        </li>
      ))}
    </ul>
  );
}

/** What the tools against doing things twice have done, since the store was made. */
function Safety({ totals }: { totals: Stats["totals"] }) {
  const facts: [string, number, string][] = [
    ["Duplicates answered", totals.replayed, "creates that got an existing job, not a second one"],
    ["Keys refused", totals.keys_refused, "creates that used a key again with another payload"],
    ["Late reports rejected", totals.reports_rejected, "from workers that had lost their lease"],
    ["Leases lost", totals.leases_lost, "starts whose worker was not heard of any more"],
    ["Timed out", totals.timed_out, "starts that took longer than their job allows"],
  ];
  return (
    <section class="card">
      <h2>What was kept from happening twice</h2>
      <dl class="facts wide">
        {facts.map(([name, count, meaning]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <strong>{number(count)}</strong> <span class="quiet">{meaning}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
