/** What stands around every page: the door, the head, the foot, and keys that act everywhere. */
import { useEffect, useRef, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";

import { ask, locked, session, trouble } from "../live/access.ts";
import { useKeys } from "../live/keyboard.ts";
import { listen } from "../live/live.ts";
import { keepFocus } from "../parts/focus.ts";
import { Footer, Help } from "./footer.tsx";
import { Brand, Header } from "./header.tsx";
import { PAGES } from "./pages.tsx";
import { SignIn, SignInAgain } from "./sign-in.tsx";

export function Frame() {
  useEffect(() => void ask(), []);
  if (!session.value) {
    if (locked.value) return <SignIn />;
    return (
      <>
        <header class="frame">
          <Brand />
        </header>
        <p class="quiet alone" role="status">
          Asking the server… {trouble.value}
        </p>
      </>
    );
  }
  return (
    <LocationProvider>
      <Inside />
      {locked.value && <SignInAgain />}
    </LocationProvider>
  );
}

function Inside() {
  const [help, setHelp] = useState(false);
  const { path, url } = useLocation();
  const shown = useRef(url);
  useEffect(listen, []);
  useEffect(() => {
    // A page that was just loaded is begun at its top; one that was turned to, at its content.
    if (shown.current !== url) keepFocus();
    shown.current = url;
  }, [url]);
  useKeys({ "?": () => setHelp(true) });
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        {isReadable(path) ? (
          <Router>
            {PAGES.map((page) => (
              <Route key={page.path} path={page.path} component={page.component} />
            ))}
            <Route default component={Nowhere} />
          </Router>
        ) : (
          <Nowhere />
        )}
      </main>
      <Footer onHelp={() => setHelp(true)} />
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

/** The router reads an address without asking whether it is one: `/jobs/%ff` is none. */
function isReadable(path: string): boolean {
  try {
    // A result that is not used would be built away, and the throw with it.
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
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
