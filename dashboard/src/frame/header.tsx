/** The head of every page: where to go, how the page hears of changes, who is signed in. */
import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

import { session, signOut } from "../live/access.ts";
import { hearing } from "../live/live.ts";
import { listed } from "./pages.tsx";

/** How much of the page before stays to be seen, in pixels. */
const EDGE = 40;

export function Header() {
  const { path } = useLocation();
  const nav = useRef<HTMLElement>(null);
  const first = (it: string) => it.split("/")[1];
  const pages = listed();
  const current = pages.find((page) => first(page.path) === first(path));
  useEffect(() => {
    document.title = current && current.path !== "/" ? `${current.title} · Halyard` : "Halyard";
    // Where the window is narrow, the pages are a row that is moved sideways.
    const [row, here] = [nav.current, nav.current?.querySelector<HTMLElement>("[aria-current]")];
    if (!row || !here) return;
    const left = here.offsetLeft - row.offsetLeft;
    row.scrollLeft = left + here.offsetWidth > row.clientWidth ? left - EDGE : 0;
  }, [current]);
  return (
    <>
      <header class="frame">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width="22" height="22" /> Halyard
        </a>
        <nav ref={nav} aria-label="Pages">
          {pages.map((page) => (
            <a
              key={page.path}
              href={page.path}
              aria-current={page === current ? "page" : undefined}
            >
              {page.title}
            </a>
          ))}
        </nav>
        <div class="frame-end">
          <Hearing />
          <Account />
        </div>
      </header>
      {session.value?.read_only && (
        <p class="banner" role="status">
          <span aria-hidden="true">⊘</span> This server is read-only: jobs run, and nothing can be
          changed here.
        </p>
      )}
    </>
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

/** Who is signed in. On a server without keys that is nobody. */
function Account() {
  const [error, setError] = useState<string>();
  const who = session.value;
  if (!who || who.name === null) return null;
  return (
    <div class="account">
      <span class="cut" title={who.name}>
        <span class="unseen">Signed in as</span> {who.name}
      </span>
      <span class="tag">{who.role}</span>
      <button
        type="button"
        class="small"
        onClick={() => void signOut().catch((thrown: Error) => setError(thrown.message))}
      >
        Sign out
      </button>
      {error && (
        <span role="alert" class="error">
          Not signed out: {error}
        </span>
      )}
    </div>
  );
}
