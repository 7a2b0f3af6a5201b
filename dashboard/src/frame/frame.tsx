/** What stands around every page: the door, the head, the foot, and keys that act everywhere. */
import { useEffect, useState } from "preact/hooks";
import { LocationProvider, Route, Router } from "preact-iso";

import { ask, locked, session, trouble } from "../live/access.ts";
import { useKeys } from "../live/keyboard.ts";
import { listen } from "../live/live.ts";
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
