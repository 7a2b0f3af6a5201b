/** The retry, told before it is done. */
import { useState } from "preact/hooks";

import { type Job, retry } from "../../api/calls.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { isOver } from "../../parts/held.tsx";
import { visible } from "../../parts/visible.ts";
import { kept, lastEnd, lastReport } from "./history.ts";

/** What is known of how its last start ended. */
const ENDS = {
  none: "It was never started.",
  known: "It is known how its last start ended",
  unknown:
    "Its last start ended without a report. What it did after its last checkpoint may have " +
    "happened: the handler must find that out, or do it under the same key.",
};

/** What becomes of its own key. */
function keyAfter({ idempotency_key, idempotency_expires_at }: Job): string {
  const unless = "unless another job holds it: then the retry is refused";
  if (idempotency_key === null) return `; a key that it had and lost is held again, ${unless}`;
  if (isOver(idempotency_expires_at))
    return `; its own key, whose time is over, is held again, ${unless}`;
  return "; its own key stays too";
}

/** Where the new life begins: `""` after every checkpoint, `fresh`, or from one of them. */
const FRESH = "\n";

export function RetryDialog(props: { job: Job; onDone: () => void; onClose: () => void }) {
  // As it was when the dialog opened: a second try of the same decision names the same life.
  const [job] = useState(props.job);
  const [choice, setChoice] = useState("");
  const fresh = choice === FRESH;
  const from = choice === "" || fresh ? undefined : choice;
  const end = lastEnd(job);
  const skipped = kept(job, from, fresh);
  const act = async () => {
    await retry(job.id, {
      life: job.life,
      ...(from !== undefined && { from }),
      ...(fresh && { fresh }),
      ...(job.state === "completed" && { allow_completed: true }),
    });
    props.onDone();
  };
  return (
    <Dialog title="Retry this job?" action="Retry" act={act} onClose={props.onClose}>
      {props.job.life !== job.life && (
        <p class="warn" role="status">
          It has been retried meanwhile: this retry changes nothing any more.
        </p>
      )}
      <ul class="truth">
        <li>
          The id stays, and with it every key that its handler makes of it
          {keyAfter(job)}. It gets a new life with{" "}
          {job.max_attempts === 1 ? "1 attempt" : `${job.max_attempts} attempts`}.
        </li>
        <li class={end === "unknown" ? "warn" : undefined}>
          {ENDS[end]}
          {end === "known" && `: ${visible(lastReport(job))}.`}
        </li>
        {end !== "none" && (
          <li>
            Where a provider has recorded an answer under the id, a declined card for instance, it
            gives the same answer again. Run as new has another id.
          </li>
        )}
        {job.state === "completed" && (
          <li class="warn">It has completed: everything without a checkpoint is done again.</li>
        )}
        <li>
          {job.checkpoints.length === 0
            ? "It has no checkpoint: every part of it is done again."
            : skipped.length === 0
              ? "No checkpoint is kept: every part is done again."
              : `Skipped, since they are done: ${visible(skipped.map((it) => it.name).join(", "))}.`}
        </li>
      </ul>
      {job.checkpoints.length > 0 && (
        <label>
          Begin
          <select value={choice} onChange={(event) => setChoice(event.currentTarget.value)}>
            <option value="">after the last checkpoint</option>
            {job.checkpoints.map(({ name }) => (
              <option key={name} value={name}>
                before {visible(name)}
              </option>
            ))}
            <option value={FRESH}>afresh, without any checkpoint</option>
          </select>
        </label>
      )}
    </Dialog>
  );
}
