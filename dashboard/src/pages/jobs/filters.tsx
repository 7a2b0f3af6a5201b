/** The state tabs and the filter bar. Both only change the address. */
import { useEffect, useRef, useState } from "preact/hooks";

import { queues, STATES, type State, tasks } from "../../api/calls.ts";
import { useKeys } from "../../live/keyboard.ts";
import { intoView } from "../../parts/row.ts";
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
  const row = useRef<HTMLElement>(null);
  useEffect(
    () => intoView(row.current, "[aria-current]"),
    [filters.states.join(), counts === undefined],
  );
  return (
    <nav ref={row} class="tabs" aria-label="States">
      {tab("all", [], filters.states.length === 0)}
      {STATES.map((state) => tab(state, [state], state === only))}
    </nav>
  );
}

/** Names that are suggested at most. */
const SUGGESTED = 200;

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
  const [names, setNames] = useState<Record<string, string[]>>({});
  // What there is to choose from is asked for once somebody looks.
  const suggest = async () => {
    if (names.queue) return;
    const [lines, kinds] = await Promise.all([queues(), tasks()]);
    const of = (all: { name: string }[]) => all.slice(0, SUGGESTED).map(({ name }) => name);
    setNames({ queue: of(lines.data), task: of(kinds.data) });
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
            list={names[member] && `${member}-names`}
            onFocus={() => void suggest().catch(() => {})}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
            onInput={(event) => setTexts({ ...texts, [member]: event.currentTarget.value })}
          />
          {names[member] && (
            <datalist id={`${member}-names`}>
              {names[member].map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          )}
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
      {isFiltered && (
        <a class="clear" href={jobsPath({ states: props.filters.states })}>
          Clear
        </a>
      )}
      {error && (
        <p role="alert" class="problem">
          {error}
        </p>
      )}
    </form>
  );
}
