/** One action to many jobs: how many, of which filter, how far it is, and what came of each. */
import { useEffect, useRef, useState } from "preact/hooks";

import { type Action, bulk } from "../../api/calls.ts";
import { Dialog, reason } from "../../parts/dialog.tsx";
import { number } from "../../parts/shown.tsx";
import { type Filters, inWords, toQuery } from "../../url/query.ts";
import { BULK_MAX, part } from "./matching.ts";
import { begin, isOver, type Refused as RefusedJob, type Run, steps, tried } from "./run.ts";
import type { Chosen } from "./selection.ts";
import { came, left, told, WORDS } from "./words.ts";

interface Props {
  action: Action;
  chosen: Chosen;
  filters: Filters;
  /** With what came of them, in words. */
  onDone: (told: string) => void;
  onClose: () => void;
}

export function BulkDialog({ action, filters, onDone, onClose, ...props }: Props) {
  // As they were when the dialog opened: what is sent again is the same call.
  const [{ counted, isAll, ...chosen }] = useState(props.chosen);
  const [asked, setAsked] = useState(() => begin(chosen.jobs, chosen.next));
  const [running, setRunning] = useState<Run>();
  const [refused, setRefused] = useState<readonly RefusedJob[]>([]);
  const stopped = useRef(false);
  const stop = () => {
    stopped.current = true;
  };
  // A page that is left goes no further.
  useEffect(() => stop, []);
  const [name, meaning, done] = WORDS[action];
  const filter = isAll ? toQuery(filters).toString() : undefined;

  const act = async () => {
    let now = asked;
    stopped.current = false;
    setRunning(now);
    try {
      const calls = {
        act: (jobs: Run["jobs"], key: string) => bulk(action, jobs, key, filter),
        more: (next: string) => part(filters, next),
      };
      for await (now of steps(asked, calls)) {
        setRunning(now);
        if (stopped.current) break;
      }
    } catch (error) {
      throw tried(now) === 0 ? error : new Error(`${came(now)}: ${reason(error as Error)}`);
    } finally {
      // Once all were tried, the refused ones are what is asked for, by other calls.
      setAsked(isOver(now) ? begin(now.refused) : now);
      setRefused(now.refused);
      setRunning(undefined);
      if (now.done > 0) onDone(told(now, done));
    }
    if (!isOver(now)) throw new Error(`stopped: ${came(now)}, ${left(now, counted)} not tried`);
    if (now.refused.length > 0) throw new Error(`${came(now)}:`);
  };
  const count = left(asked, counted);
  const isLong = chosen.next !== null;
  return (
    <Dialog
      title={`${name} ${count}?`}
      action={`${name} ${count}`}
      grave={action === "delete" || action === "cancel"}
      act={act}
      stop={isLong ? stop : undefined}
      reasons={<Refused jobs={refused} />}
      onClose={onClose}
    >
      <p>{meaning}</p>
      <p class="quiet">
        {isAll ? "All jobs" : "Selected from the jobs"} {inWords(filters)}.
        {isLong && " Those that were created after you selected them are not among them."}
      </p>
      {isLong && (
        <p class="quiet">
          {number(BULK_MAX)} are done at a time. If you stop, or close this page, what is done stays
          done, and the others are not tried.
        </p>
      )}
      {isLong && running && <Progress run={running} counted={counted} />}
    </Dialog>
  );
}

/** How far it is, of all of them where their number is known. */
function Progress({ run, counted = 0 }: { run: Run; counted: number | undefined }) {
  const all = run.next === null ? tried(run) + run.jobs.length : counted;
  return (
    <>
      {all > tried(run) && <progress aria-label="Tried" max={all} value={tried(run)} />}
      <p role="status">
        {came(run)}, {left(run, counted)} to go
      </p>
    </>
  );
}

/** Refused jobs that are named at most. */
const NAMED = 20;

/** Which jobs were refused, and why. */
function Refused({ jobs }: { jobs: readonly RefusedJob[] }) {
  if (jobs.length === 0) return null;
  return (
    <section class="refused" aria-label="Refused jobs" tabIndex={0}>
      <ul>
        {jobs.slice(0, NAMED).map(({ id, why }) => (
          <li key={id}>
            <span class="id">…{id.slice(-10)}</span> {why}
          </li>
        ))}
        {jobs.length > NAMED && <li>and {number(jobs.length - NAMED)} more</li>}
      </ul>
    </section>
  );
}
