/** What stands around every page: navigation, how the page hears of changes, theme, keys. */
import { useComputed } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import { access, ask } from "./live/access.ts";
import { KEYS, useKeys } from "./live/keyboard.ts";
import { hearing, listen } from "./live/live.ts";
import { keysAct, THEMES, theme } from "./live/theme.ts";
import { JobPage } from "./pages/job/page.tsx";
import { JobsPage } from "./pages/jobs/page.tsx";
import { KeysPage } from "./pages/keys/page.tsx";
import { OverviewPage } from "./pages/overview/page.tsx";
import { QueuesPage } from "./pages/queues/page.tsx";
import { TasksPage } from "./pages/tasks/page.tsx";
import { WorkersPage } from "./pages/workers/page.tsx";

interface Page {
  path: string;
  title: string;
  component: ComponentType<{ id?: string }>;
  /** It stands in the navigation. */
  listed: boolean;
}

const PAGES: readonly Page[] = [
  { path: "/", title: "Overview", component: OverviewPage, listed: true },
  { path: "/jobs", title: "Jobs", component: JobsPage, listed: true },
  { path: "/jobs/:id", title: "Job", component: JobPage as Page["component"], listed: false },
  { path: "/keys", title: "Keys", component: KeysPage, listed: true },
  { path: "/queues", title: "Queues", component: QueuesPage, listed: true },
  { path: "/workers", title: "Workers", component: WorkersPage, listed: true },
  { path: "/tasks", title: "Tasks", component: TasksPage, listed: true },
];

export function Frame() {
  useEffect(() => void ask(), []);
  if (access.value === undefined) return <p class="quiet alone">Asking the server…</p>;
  if (access.value === "needs a key") return <NeedsKey />;
  return (
    <LocationProvider>
      <Inside />
    </LocationProvider>
  );
}

/** Signing in is not part of this version. */
function NeedsKey() {
  return (
    <main class="alone">
      <h1>Halyard</h1>
      <p>
        This server needs a key, and the dashboard cannot sign in with one yet. It is open on a
        server without a key, which listens on its own machine only. With the key, the command line
        shows the same: <code>halyard jobs list</code>.
      </p>
    </main>
  );
}

function Inside() {
  const [help, setHelp] = useState(false);
  useEffect(listen, []);
  useKeys({ "?": () => setHelp(true) });
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        <Router>
          {PAGES.map((page) => (
            <Route key={page.path} path={page.path} component={page.component} />
          ))}
          <Route default component={Nowhere} />
        </Router>
      </main>
      <Footer onHelp={() => setHelp(true)} />
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

function Header() {
  const { path } = useLocation();
  const first = (it: string) => it.split("/")[1];
  const current = PAGES.find((page) => page.listed && first(page.path) === first(path));
  useEffect(() => {
    document.title = current && current.path !== "/" ? `${current.title} · Halyard` : "Halyard";
  }, [current]);
  return (
    <header class="frame">
      <a class="brand" href="/">
        <img src="/icon.svg" alt="" width="22" height="22" /> Halyard
      </a>
      <nav aria-label="Pages">
        {PAGES.filter((page) => page.listed).map((page) => (
          <a key={page.path} href={page.path} aria-current={page === current ? "page" : undefined}>
            {page.title}
          </a>
        ))}
      </nav>
      <div class="frame-end">
        <Hearing />
      </div>
    </header>
  );
}

/** What this browser remembers of its reader's likings. */
function Footer({ onHelp }: { onHelp: () => void }) {
  return (
    <footer class="frame">
      <KeysSwitch />
      <button type="button" class="link" onClick={onHelp}>
        Which keys
      </button>
      <label class="check">
        Theme
        <select
          value={theme.value}
          onChange={(event) => {
            theme.value = THEMES.find((it) => it === event.currentTarget.value) ?? "system";
          }}
        >
          {THEMES.map((it) => (
            <option key={it} value={it}>
              {it[0]?.toUpperCase() + it.slice(1)}
            </option>
          ))}
        </select>
      </label>
    </footer>
  );
}

/** It stands in the page, so that turning single keys off takes no key. */
function KeysSwitch() {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={keysAct.value}
        onChange={(event) => {
          keysAct.value = event.currentTarget.checked;
        }}
      />
      Single keys act
    </label>
  );
}

const HEARING = {
  live: ["●", "Live", "Changes are shown as they happen."],
  asking: ["○", "Every 5 s", "There is no stream of changes; the page asks again by itself."],
  away: ["✕", "No answer", "The server does not answer. What is shown may be old."],
} as const;

function Hearing() {
  const told = useComputed(() => HEARING[hearing.value]).value;
  const [sign, word, title] = told;
  return (
    <span class={`hearing hearing-${hearing.value}`} role="status" title={title}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

function Nowhere() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <a href="/">To the overview</a>
      </p>
    </>
  );
}

const opened = (dialog: HTMLDialogElement | null): void => {
  if (dialog && !dialog.open) dialog.showModal();
};

function Help({ onClose }: { onClose: () => void }) {
  return (
    <dialog ref={opened} onClose={onClose} aria-labelledby="help">
      <h2 id="help">Keyboard</h2>
      <dl class="facts">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <KeysSwitch />
      <form method="dialog" class="buttons">
        <button type="submit" class="main">
          Close
        </button>
      </form>
    </dialog>
  );
}
