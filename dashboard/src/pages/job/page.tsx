/** One job: what it is, what happened to it, and what can be done. */

import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import { get, type Job } from "../../api/calls.ts";
import { Problem } from "../../api/client.ts";
import { useResource } from "../../live/resource.ts";
import { title } from "../../live/title.ts";
import { Copy } from "../../parts/copy.tsx";
import { duration } from "../../parts/duration.ts";
import { member } from "../../parts/json/exact.ts";
import { Json } from "../../parts/json/view.tsx";
import { Shown } from "../../parts/shown.tsx";
import { State } from "../../parts/state.tsx";
import { Ago, At, Took } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { jobPath, jobsPath } from "../../url/query.ts";
import { Actions } from "./actions.tsx";
import { Checkpoints } from "./checkpoints.tsx";
import { whyFinal } from "./history.ts";
import { Idempotency } from "./idempotency.tsx";
import { Timeline, WAITS } from "./timeline.tsx";

export function JobPage() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const found = useResource(id, () => get(id));
  if (found.error instanceof Problem && found.error.status === 404) {
    return (
      <>
        <h1>No such job</h1>
        <p>
          <span class="id">{id}</span> is not known here. Ended jobs are kept for some days only.
        </p>
      </>
    );
  }
  return (
    <Shown of={found}>
      {({ job, source }) => <Whole job={job} source={source} onChange={found.reload} />}
    </Shown>
  );
}

interface Props {
  job: Job;
  source: string;
  onChange: () => void;
}

function Whole({ job, source, onChange }: Props) {
  useEffect(() => {
    title.value = `${job.task}: ${job.state}`;
  }, [job.task, job.state]);
  const result = member(source, "result") ?? "null";
  return (
    <>
      <header class="head">
        <div>
          <h1>{job.task}</h1>
          <p>
            <State name={job.state} />
            {job.cancel_requested && <span class="tag">cancel requested</span>}{" "}
            <span class="id">{job.id}</span> <Copy text={job.id} label="Copy the id" />
          </p>
        </div>
        <Actions job={job} onChange={onChange} />
      </header>
      {job.error && (
        <section class="card problem" aria-label="Error">
          <h2 class="text">{visible(job.error.type)}</h2>
          <p class="text long" tabIndex={0}>
            {visible(job.error.message)}
          </p>
          {job.state === "retrying" && <Next job={job} />}
          {job.state === "failed" && <p>It is not tried again by itself: {whyFinal(job)}.</p>}
        </section>
      )}
      <div class="columns">
        <Facts job={job} />
        <Idempotency job={job} onChange={onChange} />
      </div>
      <Checkpoints job={job} source={source} />
      <Timeline job={job} />
      <section class="card">
        <h2>Payload</h2>
        <Json
          source={member(source, "payload") ?? "null"}
          label="payload"
          file={`${job.id}-payload`}
        />
      </section>
      {job.state === "completed" && (
        <section class="card">
          <h2>Result</h2>
          <Json source={result} label="result" file={`${job.id}-result`} />
        </section>
      )}
    </>
  );
}

/** Why the next attempt is when it is. */
function Next({ job }: { job: Job }) {
  const last = job.attempts.find((attempt) => attempt.retry_delay_ms !== null);
  return (
    <p>
      Next attempt <Ago at={job.run_at} />
      {last?.retry_reason && last.retry_delay_ms !== null && (
        <>
          : {duration(last.retry_delay_ms ?? 0)} after the last, {WAITS[last.retry_reason]}
        </>
      )}
      .
    </p>
  );
}

function Facts({ job }: { job: Job }) {
  return (
    <section class="card">
      <h2>Job</h2>
      <dl class="facts">
        <Fact name="Queue">
          <a href={jobsPath({ queue: job.queue })}>{job.queue}</a>
        </Fact>
        <Fact name="Attempt">
          {job.attempt} of {job.max_attempts}
          {job.life > 1 && `, life ${job.life}`}
          {job.crashes > 0 &&
            `, lost ${job.crashes} ${job.crashes === 1 ? "time" : "times"} in a row (at most ${job.max_crashes})`}
        </Fact>
        <Fact name="Created">
          <At at={job.created_at} /> (<Ago at={job.created_at} />)
        </Fact>
        {(job.state === "scheduled" || job.state === "retrying") && (
          <Fact name="Due">
            <At at={job.run_at} /> (<Ago at={job.run_at} />)
          </Fact>
        )}
        {job.finished_at && (
          <Fact name="Ended">
            <At at={job.finished_at} />, took <Took from={job.started_at} to={job.finished_at} />
          </Fact>
        )}
        <Fact name="Time limit">{duration(job.timeout_ms)} an attempt</Fact>
        {job.priority !== 0 && <Fact name="Priority">{job.priority}</Fact>}
        {job.tags.length > 0 && (
          <Fact name="Tags">
            {job.tags.map((tag) => (
              <a key={tag} class="tag" href={jobsPath({ tag })}>
                {tag}
              </a>
            ))}
          </Fact>
        )}
        {job.traceparent && (
          <Fact name="Trace">
            <span class="id">{job.traceparent}</span>
          </Fact>
        )}
        {job.rerun_of && (
          <Fact name="Runs anew">
            <a href={jobPath(job.rerun_of)}>{job.rerun_of}</a>
          </Fact>
        )}
        {job.replaced_by && (
          <Fact name="Replaced by">
            <a href={jobPath(job.replaced_by)}>{job.replaced_by}</a>
          </Fact>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
