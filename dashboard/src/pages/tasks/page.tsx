/** Tasks: what there is of each, and who handles it. */
import { type Task, tasks } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty, number, Shown } from "../../parts/shown.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { jobsPath } from "../../url/query.ts";

export function TasksPage() {
  const all = useResource("tasks", tasks);
  return (
    <>
      <h1>Tasks</h1>
      <Shown of={all}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>A task is here as soon as a job of it is created.</Empty>
          ) : (
            <Table label="Tasks" columns={COLUMNS}>
              {data.map((task) => (
                <Row key={task.name} task={task} />
              ))}
            </Table>
          )
        }
      </Shown>
    </>
  );
}

const COUNTS = ["queued", "running", "retrying", "scheduled", "completed", "failed"] as const;
const COLUMNS = [
  "Task",
  "Queues",
  ...COUNTS.map((name) => numbers(`${name[0]?.toUpperCase()}${name.slice(1)}`)),
  numbers("Workers"),
];

function Row({ task }: { task: Task }) {
  const unhandled = isUnhandled(task);
  return (
    <tr>
      <th scope="row">
        <a href={jobsPath({ task: task.name })}>{task.name}</a>
      </th>
      <td>{task.queues.join(", ")}</td>
      {COUNTS.map((name) => (
        <td key={name} class="number">
          {name === "failed" && task.counts.failed > 0 ? (
            <a href={jobsPath({ task: task.name, states: ["failed"] })}>
              {number(task.counts.failed)}
            </a>
          ) : (
            number(task.counts[name])
          )}
        </td>
      ))}
      <td class={unhandled ? "number warn" : "number"}>
        {unhandled && <span aria-hidden="true">⚠ </span>}
        {task.workers}
      </td>
    </tr>
  );
}

/** Jobs of it wait, and no worker that this server has heard of takes them. */
const isUnhandled = ({ counts, workers }: Task): boolean =>
  workers === 0 && counts.queued + counts.retrying + counts.scheduled > 0;
