/** What can be done with a job, each with what it means before it is done. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";

import { cancel, type Job, remove, runAsNew, runNow } from "../../api/calls.ts";
import { requestKey } from "../../api/request-key.ts";
import { forbidden } from "../../live/access.ts";
import { useKeys } from "../../live/keyboard.ts";
import { Action } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { isOver } from "../../parts/held.tsx";
import { visible } from "../../parts/visible.ts";
import { jobPath } from "../../url/query.ts";
import { RetryDialog } from "./retry.tsx";

type Asked = "retry" | "cancel" | "run-now" | "run-as-new" | "delete";

export function Actions({ job, onChange }: { job: Job; onChange: () => void }) {
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const { state } = job;
  const ended = state === "completed" || state === "failed" || state === "cancelled";
  const retryable =
    forbidden("retry") ??
    (ended ? undefined : `It is ${state}: only a job that has ended is retried.`);
  const waits = state === "scheduled" || state === "retrying";
  useKeys({ r: () => !retryable && setAsked("retry") });
  return (
    <div class="actions">
      <Action
        label="Retry…"
        {...(state !== "completed" && { kind: "main" })}
        unless={retryable}
        onClick={() => setAsked("retry")}
      />
      <Action
        label="Run now"
        unless={
          forbidden("run_now") ?? (waits ? undefined : `It is ${state}: it waits for no time.`)
        }
        onClick={() => setAsked("run-now")}
      />
      <Action
        label="Cancel…"
        unless={forbidden("cancel") ?? (ended ? `It is ${state} already.` : undefined)}
        onClick={() => setAsked("cancel")}
      />
      <Action
        label="Run as new…"
        unless={forbidden("run_as_new")}
        onClick={() => setAsked("run-as-new")}
      />
      <Action
        label="Delete…"
        unless={
          forbidden("delete") ?? (state === "running" ? "A running job is not deleted." : undefined)
        }
        onClick={() => setAsked("delete")}
      />
      {asked === "retry" && <RetryDialog job={job} onDone={onChange} onClose={close} />}
      {asked === "cancel" && (
        <Dialog
          title="Cancel this job?"
          action="Cancel the job"
          grave
          onClose={close}
          act={async () => {
            await cancel(job.id);
            onChange();
          }}
        >
          <p>
            {state === "running"
              ? "Its worker is asked to stop. If it completes first, it is completed."
              : "It ends at once, without being run."}
          </p>
        </Dialog>
      )}
      {asked === "run-now" && (
        <Dialog
          title="Run this job now?"
          action="Run now"
          onClose={close}
          act={async () => {
            await runNow(job.id);
            onChange();
          }}
        >
          <p>It becomes claimable at once, instead of at its time.</p>
        </Dialog>
      )}
      {asked === "run-as-new" && <RunAsNew job={job} onClose={close} />}
      {asked === "delete" && <Delete job={job} onClose={close} />}
    </div>
  );
}

function RunAsNew({ job, onClose }: { job: Job; onClose: () => void }) {
  const { route } = useLocation();
  // The same call when it is sent again.
  const [key] = useState(requestKey);
  return (
    <Dialog
      title="Run as a new job?"
      action="Run as new"
      grave
      act={async () => route(jobPath((await runAsNew(job.id, key)).id))}
      onClose={onClose}
    >
      <p>
        A new job with the same payload, <strong>another id</strong>, no key and no checkpoints.
      </p>
      <p class="warn">
        <span aria-hidden="true">⚠</span> What handlers do outside under the old id
        {job.idempotency_key !== null && " or key"}, for instance a charge, will happen again. To
        try the same work again, retry the job instead.
      </p>
      {job.checkpoints.length > 0 && (
        <p class="warn">
          Done again: {visible(job.checkpoints.map((it) => it.name).join(", "))}, and what follows.
        </p>
      )}
      <p>
        It is the way where a provider has recorded a refusal under the old id, such as a declined
        card: to a retry it gives the same answer, under another id it looks anew.
      </p>
    </Dialog>
  );
}

function Delete({ job, onClose }: { job: Job; onClose: () => void }) {
  const { route } = useLocation();
  return (
    <Dialog
      title="Delete this job?"
      action="Delete the job"
      grave
      act={async () => {
        await remove(job.id);
        route("/jobs");
      }}
      onClose={onClose}
    >
      <p>Payload, result and history are gone for good.</p>
      {job.idempotency_key !== null && (
        <p>
          {job.starts === 0
            ? "It was never started, so its key is free: the next create with it makes a new job."
            : isOver(job.idempotency_expires_at)
              ? "Its key is held no more: the next create with it makes a new job."
              : "Its key stays held until its time is over: a create with it makes no second job."}
        </p>
      )}
    </Dialog>
  );
}
