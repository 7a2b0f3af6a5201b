/** How many jobs of each state the filters find, where the server keeps count of them. */
import { queues, STATES, type State, stats, tasks } from "../../api/calls.ts";
import type { Filters } from "../../url/query.ts";

type Counts = Record<State, number>;

/** Of all jobs, of one queue, or of one task; the server counts nothing narrower. */
export async function counts(filters: Filters): Promise<Counts | undefined> {
  const { queue, task, tag, key } = filters;
  if (tag !== "" || key !== "" || (queue !== "" && task !== "")) return undefined;
  if (queue === "" && task === "") return (await stats()).counts;
  const { data } = await (queue === "" ? tasks() : queues());
  return data.find(({ name }) => name === (queue || task))?.counts;
}

/** Of all states that the filters let through. */
export async function count(filters: Filters): Promise<number | undefined> {
  const by = await counts(filters);
  const states = filters.states.length > 0 ? filters.states : STATES;
  return by && states.reduce((sum, state) => sum + by[state], 0);
}
