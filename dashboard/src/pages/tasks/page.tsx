/** Tasks: what there is of each, and who handles it. */
import { type Task, tasks, type Worker, workers } from "../../api/calls.ts";
import { useResource } from "../../live/resource.ts";
import { Empty, number, Shown } from "../../parts/shown.tsx";
import { numbers, Table } from "../../parts/table.tsx";
import { jobsPath } from "../../url/query.ts";
import { Handling } from "../workers/who.tsx";

export function TasksPage() {
  const all = useResource("tasks", async () => {
    const [kinds, callers] = await Promise.all([tasks(), workers()]);
    return { tasks: kinds.data, workers: callers.data };
  });
  return (
    <>
      <h1>Tasks</h1>
      <Shown of={all}>
        {({ tasks, workers }) =>
          tasks.length === 0 ? (
            <Empty>A task is here as soon as a job of it is created.</Empty>
          ) : (
            <Table label="Tasks" columns={COLUMNS}>
              {tasks.map((task) => (
                <Row key={task.name} task={task} workers={workers} />
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
  "Handled by",
];

function Row({ task, workers }: { task: Task; workers: readonly Worker[] }) {
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
      <Handling task={task} workers={workers} />
    </tr>
  );
}
