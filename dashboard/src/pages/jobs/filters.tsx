/** The state tabs and the filter bar. Both only change the address. */
import { useRef, useState } from "preact/hooks";

import { STATES, type State } from "../../api/calls.ts";
import { useKeys } from "../../live/keyboard.ts";
import { number } from "../../parts/shown.tsx";
import { type Filters, jobsPath } from "../../url/query.ts";

export function Tabs(props: { filters: Filters; counts: Record<State, number> | undefined }) {
  const { filters, counts } = props;
  const only = filters.states.length === 1 ? filters.states[0] : undefined;
  const tab = (label: string, states: State[], isHere: boolean) => (
    <a
      key={label}
      href={jobsPath({ ...filters, states })}
      aria-current={isHere ? "true" : undefined}
    >
      {label}
      {states[0] && counts && <span class="count">{number(counts[states[0]])}</span>}
    </a>
  );
  return (
    <nav class="tabs" aria-label="States">
      {tab("all", [], filters.states.length === 0)}
      {STATES.map((state) => tab(state, [state], state === only))}
    </nav>
  );
}

const FIELDS = [
  ["queue", "Queue"],
  ["task", "Task"],
  ["tag", "Tag"],
  ["key", "Idempotency key"],
] as const;

export function Bar(props: { filters: Filters; onChange: (to: Partial<Filters>) => void }) {
  const [texts, setTexts] = useState({ ...props.filters });
  const [error, setError] = useState<string>();
  const first = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => first.current?.focus() });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (texts.key !== "" && texts.task === "") {
      setError("A key belongs to a task: name the task too.");
      return;
    }
    props.onChange({ queue: texts.queue, task: texts.task, tag: texts.tag, key: texts.key });
  };
  const isFiltered = FIELDS.some(([member]) => props.filters[member] !== "");
  return (
    <form class="bar" onSubmit={submit}>
      {FIELDS.map(([member, label], index) => (
        <label key={member} class={member === "key" ? "wide" : undefined}>
          {label}
          <input
            ref={index === 0 ? first : null}
            value={texts[member]}
            onInput={(event) => setTexts({ ...texts, [member]: event.currentTarget.value })}
          />
        </label>
      ))}
      <label>
        Order
        <select
          value={props.filters.order}
          onChange={(event) =>
            props.onChange({ order: event.currentTarget.value === "asc" ? "asc" : "desc" })
          }
        >
          <option value="desc">Newest first</option>
          <option value="asc">Oldest first</option>
        </select>
      </label>
      <button type="submit">Filter</button>
      {isFiltered && <a href={jobsPath({ states: props.filters.states })}>Clear</a>}
      {error && (
        <p role="alert" class="problem">
          {error}
        </p>
      )}
    </form>
  );
}
