/** Until when an idempotency key is held. */
import { At } from "./time.tsx";

/** The server tells a time once the job has ended; before, only the rule is known. */
export function HeldUntil({ at }: { at: string | null | undefined }) {
  if (at) return <At at={at} />;
  return (
    <>
      the job has ended, and then for the <code>idempotency_ttl_ms</code> of its create, or as long
      as the server is set to where that named none. The date is here once the job has ended.
    </>
  );
}
