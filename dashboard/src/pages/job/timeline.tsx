/** Every start that is kept, newest first. */
import type { Attempt, Job } from "../../api/calls.ts";
import { duration } from "../../parts/duration.ts";
import { At, Took } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { isUnknown } from "./history.ts";

const SIGNS: Record<Attempt["state"], string> = {
  running: "▶",
  completed: "✓",
  failed: "✕",
  lost: "?",
  timed_out: "?",
  released: "↩",
  snoozed: "◷",
  cancelled: "⊘",
};

/** Why a job waits as long as it does before its next attempt. Each wait is spread by chance. */
export const WAITS = {
  backoff: "the backoff of a job with this many attempts",
  retry_after: "as its worker asked for, and some more so that jobs part",
  crash: "the backoff after a start that was lost",
};

export function Timeline({ job }: { job: Job }) {
  if (job.attempts.length === 0) return null;
  const older = job.attempts_total - job.attempts.length;
  return (
    <section class="card">
      <h2>Starts</h2>
      <ol class="timeline" reversed>
        {job.attempts.map((attempt) => (
          <Start key={attempt.id} attempt={attempt} />
        ))}
      </ol>
      {older > 0 && <p class="quiet">{older} older ones are not shown.</p>}
    </section>
  );
}

function Start({ attempt }: { attempt: Attempt }) {
  const { state, error } = attempt;
  return (
    <li class={`start start-${state}`}>
      <p>
        <strong>
          <span aria-hidden="true">{SIGNS[state]}</span> Start {attempt.start}:{" "}
          {state.replace("_", " ")}
        </strong>{" "}
        <span class="quiet">
          life {attempt.life}, attempt {attempt.attempt}
        </span>
      </p>
      <p class="quiet">
        <At at={attempt.started_at} /> on <span class="id">{attempt.worker}</span> · waited{" "}
        <Took from={attempt.queued_at} to={attempt.started_at} /> ·{" "}
        {attempt.finished_at ? "ran " : "runs for "}
        <Took from={attempt.started_at} to={attempt.finished_at} />
      </p>
      {isUnknown(attempt) && (
        <p class="warn">
          It ended without a report: what it did may have happened, or not. Unknown is not failed.
        </p>
      )}
      {error && (
        <>
          <p class="text long error" tabIndex={0}>
            {visible(`${error.type}: ${error.message}`)}
          </p>
          {error.stack && (
            <details>
              <summary>Stack</summary>
              <pre tabIndex={0}>{visible(error.stack)}</pre>
            </details>
          )}
        </>
      )}
      {attempt.retry_delay_ms !== null && attempt.retry_reason && (
        <p class="quiet">
          The next one was due {duration(attempt.retry_delay_ms)} later:{" "}
          {WAITS[attempt.retry_reason]}.
        </p>
      )}
    </li>
  );
}
