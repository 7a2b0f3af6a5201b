/** What makes a second run of this job harmless, and what it has answered so far. */
import { useState } from "preact/hooks";

import type { Job } from "../../api/calls.ts";
import { forbidden } from "../../live/access.ts";
import { Action } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Held } from "../../parts/held.tsx";
import { number } from "../../parts/shown.tsx";
import { visible } from "../../parts/visible.ts";
import { ForgetKey } from "../keys/page.tsx";

export function Idempotency({ job, onChange }: { job: Job; onChange: () => void }) {
  const [asked, setAsked] = useState(false);
  const key = job.idempotency_key;
  return (
    <section class="card">
      <h2>Idempotency</h2>
      {key === null ? (
        <p>
          This job holds no key: it had none, or it was freed or went to another job. A second
          create is not answered with this job. Its id is the same in every attempt, and serves as
          the key of what its handler does outside.
        </p>
      ) : (
        <dl class="facts">
          <div>
            <dt>Key</dt>
            <dd>
              <span class="id text">{visible(key)}</span> <Copy text={key} label="Copy the key" />
            </dd>
          </div>
          <div>
            <dt>Scope</dt>
            <dd>
              the task <span class="id">{job.task}</span>
            </dd>
          </div>
          <Held until={job.idempotency_expires_at} />
          <div>
            <dt>Duplicates</dt>
            <dd>
              <strong>{number(job.replays)}</strong>{" "}
              {job.replays === 1 ? "create was" : "creates were"} answered with this job instead of
              a new one
            </dd>
          </div>
        </dl>
      )}
      {job.rejected > 0 && (
        <p>
          <strong>{number(job.rejected)}</strong> late{" "}
          {job.rejected === 1 ? "report was" : "reports were"} rejected: from workers whose lease
          was lost.
        </p>
      )}
      {key !== null && (
        <Action
          label="Forget key…"
          kind="small"
          unless={forbidden("forget_key")}
          onClick={() => setAsked(true)}
        />
      )}
      {asked && <ForgetKey id={job.id} onDone={onChange} onClose={() => setAsked(false)} />}
    </section>
  );
}
