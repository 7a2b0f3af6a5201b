/** Until when an idempotency key is held. */
import { At, now } from "./time.tsx";

/** Whether the time of a key is over: a create with it makes a new job. */
export const isOver = (at: string | null | undefined): boolean =>
  Boolean(at) && Date.parse(at ?? "") <= now.value;

/** A fact of a list. The server tells a time once the job has ended; before, only the rule is known. */
export function Held({ until }: { until: string | null | undefined }) {
  return (
    <div>
      <dt>{isOver(until) ? "Was held until" : "Held until"}</dt>
      <dd>
        {until ? <At at={until} /> : <Rule />}
        {isOver(until) && "; a create with it makes a new job"}
      </dd>
    </div>
  );
}

const Rule = () => (
  <>
    the job has ended, and then for the <code>idempotency_ttl_ms</code> of its create, or as long as
    the server is set to where that named none. The date is here once the job has ended.
  </>
);
