/** Tasks: what there is of each, and who handles it. */
import { type Task, tasks } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty, number, Shown } from "../../parts/shown.tsx";
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
            <Table data={data} />
          )
        }
      </Shown>
    </>
  );
}

const COLUMNS = ["queued", "running", "retrying", "scheduled", "completed", "failed"] as const;

function Table({ data }: { data: Task[] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Queues</th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" class="number">
                {name[0]?.toUpperCase() + name.slice(1)}
              </th>
            ))}
            <th scope="col" class="number">
              Workers
            </th>
          </tr>
        </thead>
        <tbody>
          {data.map((task) => (
            <Row key={task.name} task={task} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ task }: { task: Task }) {
  const unhandled = isUnhandled(task);
  return (
    <tr>
      <th scope="row">
        <a href={jobsPath({ task: task.name })}>{task.name}</a>
      </th>
      <td>{task.queues.join(", ")}</td>
      {COLUMNS.map((name) => (
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
