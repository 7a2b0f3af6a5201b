/** Who holds an idempotency key, in what state, until when. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

import { forgetKey, holder, tasks } from "../../api/calls.ts";
import { Problem, type Shapes } from "../../api/client.ts";
import { forbidden } from "../../live/access.ts";
import { leaveField, useKeys } from "../../live/keyboard.ts";
import { useResource } from "../../live/resource.ts";
import { Action } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Held } from "../../parts/held.tsx";
import { Empty, Shown } from "../../parts/shown.tsx";
import { State } from "../../parts/state.tsx";
import { jobPath } from "../../url/query.ts";

export function KeysPage() {
  const { query, route, url } = useLocation();
  const [task, setTask] = useState(query.task ?? "");
  const [key, setKey] = useState(query.key ?? "");
  const first = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => first.current?.focus() });
  // Back and forward change the address only, and the fields say what is answered below them.
  useEffect(() => {
    setTask(query.task ?? "");
    setKey(query.key ?? "");
  }, [url]);
  const known = useResource("tasks", tasks);
  const look = (event: SubmitEvent) => {
    event.preventDefault();
    route(`/keys?${new URLSearchParams({ task, key })}`);
  };
  return (
    <>
      <h1>Keys</h1>
      <p class="lead">
        One task and one key are one job, while the job lives and for its key's time after. A create
        with a key that is held is answered with the job that holds it.
      </p>
      <form class="bar" onSubmit={look}>
        <label>
          Task
          <input
            ref={first}
            list="tasks"
            required
            value={task}
            onKeyDown={leaveField}
            onInput={(event) => setTask(event.currentTarget.value)}
          />
        </label>
        <datalist id="tasks">
          {known.data?.data.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <label class="wide">
          Idempotency key
          <input
            required
            value={key}
            onKeyDown={leaveField}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          Look up
        </button>
      </form>
      {query.task && query.key && <Found task={query.task} name={query.key} />}
    </>
  );
}

function Found({ task, name }: { task: string; name: string }) {
  const found = useResource(`${task}\n${name}`, async () => {
    try {
      return { holder: await holder(task, name) };
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return { holder: undefined };
      throw error;
    }
  });
  return (
    <Shown of={found}>
      {({ holder }) =>
        holder ? (
          <Holder holder={holder} onChange={found.reload} />
        ) : (
          <Empty>Nobody holds this key: a create with it makes a new job.</Empty>
        )
      }
    </Shown>
  );
}

function Holder({ holder, onChange }: { holder: Shapes["KeyHolder"]; onChange: () => void }) {
  const [asked, setAsked] = useState(false);
  return (
    <section class="card" aria-label="Who holds the key">
      <dl class="facts">
        <div>
          <dt>Job</dt>
          <dd>
            {holder.purged ? holder.job_id : <a href={jobPath(holder.job_id)}>{holder.job_id}</a>}
            {holder.purged && <span class="tag">no longer kept</span>}
          </dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>
            <State name={holder.state} />
          </dd>
        </div>
        <Held until={holder.expires_at} />
      </dl>
      <Action label="Forget key…" unless={forbidden("forget_key")} onClick={() => setAsked(true)} />
      {asked && <ForgetKey id={holder.job_id} onDone={onChange} onClose={() => setAsked(false)} />}
    </section>
  );
}

export function ForgetKey(props: { id: string; onDone: () => void; onClose: () => void }) {
  return (
    <Dialog
      title="Forget this key?"
      action="Forget the key"
      grave
      act={async () => {
        await forgetKey(props.id);
        props.onDone();
      }}
      onClose={props.onClose}
    >
      <p>
        The next create with this key makes a <strong>new job</strong>, with an id of its own. What
        the old job did outside may then be done a second time.
      </p>
    </Dialog>
  );
}
