/** What operators did: who, what, to which jobs, when; newest first. */
import { useLocation } from "preact-iso";

import { type AuditEntry, audit } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty, number, Shown } from "../../parts/shown.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { At } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { jobPath, jobsPath } from "../../url/query.ts";
import { did, filterOf, patternOf, queueOf } from "./words.ts";

const PAGE = 50;
const COLUMNS = ["When", "Who", "Did", "To", numbers("How many"), "Request"];

/** Of a filter this much is seen in its row before it is unfolded, in characters. */
const FILTER_SHOWN = 120;

export function AuditPage() {
  const { query } = useLocation();
  const cursor = query.cursor ?? "";
  const page = useResource(`audit ${cursor}`, () =>
    audit(new URLSearchParams({ limit: String(PAGE), ...(cursor && { cursor }) })),
  );
  return (
    <>
      <h1>Audit</h1>
      <p class="lead">
        What operators did: retries, cancels, deletes, queues paused, keys made, sign-ins. What
        programs do with keys of producers and workers is not in it.
      </p>
      <Shown of={page}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              <Empty>Nothing was done yet.</Empty>
            ) : (
              <Table label="Audit log" columns={COLUMNS}>
                {data.map((entry, index) => (
                  // A request may do several things; what is written never changes.
                  <Row key={`${entry.request_id} ${index}`} entry={entry} />
                ))}
              </Table>
            )}
            <nav class="pages" aria-label="Pages of the log">
              {cursor && <a href="/audit">To the newest</a>}
              {next_cursor && (
                <a href={`/audit?${new URLSearchParams({ cursor: next_cursor })}`}>Further back</a>
              )}
            </nav>
          </>
        )}
      </Shown>
    </>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  return (
    <tr>
      <td class="time">
        <At at={entry.at} />
      </td>
      <th scope="row" class="cut" title={entry.key_id ?? undefined}>
        {visible(entry.actor)}
      </th>
      <td class="time">{did(entry.action)}</td>
      <td class={entry.job_ids.length > 0 ? "wide" : undefined}>
        <About entry={entry} />
      </td>
      <td class="number">{entry.job_ids.length > 0 ? number(entry.count) : ""}</td>
      <td class="id quiet">{entry.request_id}</td>
    </tr>
  );
}

/** What was acted on: a queue, a key, one job, or many behind a fold. */
function About({ entry }: { entry: AuditEntry }) {
  const { job_ids: ids, target } = entry;
  const [queue, pattern, filter] = [queueOf(entry), patternOf(entry), filterOf(entry)];
  const jobs = (
    <ul class="ids">
      {ids.map((id) => (
        <li key={id}>
          <JobLink id={id} />
        </li>
      ))}
    </ul>
  );
  if (pattern !== undefined)
    return (
      <>
        <JobLink id={pattern} /> as {jobs}
      </>
    );
  return (
    <>
      {queue !== undefined && <a href={jobsPath({ queue })}>{queue}</a>}
      {queue === undefined && filter === undefined && target !== null && (
        <span class="text">{visible(target)}</span>
      )}
      {ids.length === 1 && jobs}
      {ids.length > 1 && (
        <details>
          <summary>{number(ids.length)} jobs</summary>
          {jobs}
        </details>
      )}
      {filter !== undefined && <Filter text={visible(filter)} />}
    </>
  );
}

/** By which filter jobs were chosen; a long one is read whole when it is asked for. */
function Filter({ text }: { text: string }) {
  if (text === "") return <div class="quiet">of all jobs</div>;
  const match = (shown: string) => (
    <>
      of all that match <span class="id text">{shown}</span>
    </>
  );
  if (text.length <= FILTER_SHOWN) return <div class="quiet">{match(text)}</div>;
  return (
    <details class="quiet">
      <summary>{match(`${text.slice(0, FILTER_SHOWN)}…`)}</summary>
      <span class="id text">{text}</span>
    </details>
  );
}

function JobLink({ id }: { id: string }) {
  return (
    <a class="id" href={jobPath(id)}>
      {id}
    </a>
  );
}
