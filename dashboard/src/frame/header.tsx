/** The head of every page: where to go, how the page hears of changes, who is signed in. */
import { useComputed } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

import { session, signOut } from "../live/access.ts";
import { hearing } from "../live/live.ts";
import { title } from "../live/title.ts";
import { Hint } from "../parts/hint.tsx";
import { intoView } from "../parts/row.ts";
import { visible } from "../parts/visible.ts";
import { listed } from "./pages.tsx";

export function Header() {
  const { path } = useLocation();
  const nav = useRef<HTMLElement>(null);
  const first = (it: string) => it.split("/")[1];
  const pages = listed();
  const current = pages.find((page) => first(page.path) === first(path));
  useEffect(() => {
    title.value = current && current.path !== "/" ? current.title : "";
    intoView(nav.current, "[aria-current]");
  }, [current, path]);
  return (
    <>
      <header class="frame">
        <Brand />
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
          <span aria-hidden="true">⊘</span> This server is read-only: it changes nothing, and gives
          workers no jobs.
        </p>
      )}
    </>
  );
}

/** What `index.html` shows as well, before a script has run. */
export const Brand = () => (
  <a class="brand" href="/">
    <img src="/icon.svg" alt="" width="22" height="22" /> Halyard
  </a>
);

const HEARING = {
  live: ["●", "Live", "Changes are shown as they happen."],
  asking: [
    "○",
    "Asking every 5 s",
    "There is no stream of changes now, so the page asks the server again every 5 seconds.",
  ],
  away: [
    "✕",
    "No answer",
    "The server does not answer, so what is shown may be old. The page goes on asking.",
  ],
} as const;

/** How the page hears of changes; what that means is told by pointing, by the keyboard, by a tap. */
function Hearing() {
  const place = useRef<HTMLButtonElement>(null);
  const id = useId();
  const [told, setTold] = useState(false);
  const [sign, word, meaning] = useComputed(() => HEARING[hearing.value]).value;
  return (
    <span class={`hearing hearing-${hearing.value}`}>
      <button
        ref={place}
        type="button"
        class="link"
        aria-describedby={id}
        onClick={() => setTold(true)}
        onFocus={({ currentTarget }) => setTold(currentTarget.matches(":focus-visible"))}
        onBlur={() => setTold(false)}
        onPointerEnter={() => setTold(true)}
        onPointerLeave={() => setTold(place.current === document.activeElement)}
      >
        <span aria-hidden="true">{sign}</span> <span role="status">{word}</span>
      </button>
      <Hint id={id} of={place} shown={told} onHide={() => setTold(false)}>
        {meaning}
      </Hint>
    </span>
  );
}

/** Who is signed in. On a server without keys that is nobody. */
function Account() {
  const [error, setError] = useState<string>();
  const who = session.value;
  if (!who || who.name === null) return null;
  const name = visible(who.name);
  return (
    <div class="account">
      <span class="cut" title={name}>
        <span class="unseen">Signed in as</span> {name}
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
