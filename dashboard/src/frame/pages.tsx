/** The pages, in the order of the navigation. */
import type { ComponentType } from "preact";

import { isAdmin, session, signOut } from "../live/access.ts";
import { AccessPage } from "../pages/access/page.tsx";
import { AuditPage } from "../pages/audit/page.tsx";
import { JobPage } from "../pages/job/page.tsx";
import { JobsPage } from "../pages/jobs/page.tsx";
import { KeysPage } from "../pages/keys/page.tsx";
import { OverviewPage } from "../pages/overview/page.tsx";
import { QueuesPage } from "../pages/queues/page.tsx";
import { TasksPage } from "../pages/tasks/page.tsx";
import { WorkersPage } from "../pages/workers/page.tsx";
import { visible } from "../parts/visible.ts";

export interface Page {
  path: string;
  title: string;
  component: ComponentType;
  /** Who finds it in the navigation. */
  listed: "all" | "admins" | "nobody";
}

export const PAGES: readonly Page[] = [
  { path: "/", title: "Overview", component: OverviewPage, listed: "all" },
  { path: "/jobs", title: "Jobs", component: JobsPage, listed: "all" },
  { path: "/jobs/:id", title: "Job", component: JobPage, listed: "nobody" },
  { path: "/keys", title: "Keys", component: KeysPage, listed: "all" },
  { path: "/queues", title: "Queues", component: QueuesPage, listed: "all" },
  { path: "/workers", title: "Workers", component: WorkersPage, listed: "all" },
  { path: "/tasks", title: "Tasks", component: TasksPage, listed: "all" },
  admins("/access", "Access", AccessPage),
  admins("/audit", "Audit", AuditPage),
];

export const listed = (): Page[] =>
  PAGES.filter(({ listed }) => listed === "all" || (listed === "admins" && isAdmin.value));

/** A page that others than admins are told about, and not shown. */
function admins(path: string, title: string, Shown: ComponentType): Page {
  const component = () => (isAdmin.value ? <Shown /> : <AdminsOnly title={title} />);
  return { path, title, component, listed: "admins" };
}

function AdminsOnly({ title }: { title: string }) {
  return (
    <>
      <h1>{title}</h1>
      <section class="card">
        <p>
          This page is for keys with the role admin. You are signed in as{" "}
          <strong class="text">{visible(session.value?.name ?? "")}</strong>, whose role is{" "}
          {session.value?.role}.
        </p>
        <button type="button" onClick={() => void signOut().catch(() => {})}>
          Sign in with another key
        </button>
      </section>
    </>
  );
}
