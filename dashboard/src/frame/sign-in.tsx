/** The page's door: a key, traded for a cookie that no script can read. */
import { useEffect, useRef, useState } from "preact/hooks";

import { ask, signIn } from "../live/access.ts";
import { Modal } from "../parts/modal.tsx";
import { sentence } from "../parts/sentence.ts";

/** Before anything is shown. What is shown afterwards gets the focus. */
export function SignIn() {
  useEffect(() => () => void setTimeout(() => document.getElementById("content")?.focus()), []);
  return (
    <main class="alone">
      <Form>
        This server asks for a key. Whoever runs it makes one for you, on its page Access or with{" "}
        <code>halyard keys create</code>.
      </Form>
    </main>
  );
}

/** Above a page that was open: it stays as it was left, and is not to be seen meanwhile. */
export function SignInAgain() {
  return (
    <Modal labelledBy="sign-in" class="sign-in" stays onClose={() => {}}>
      <Form>
        Your session is over: its twelve hours have passed, its key was revoked, or somebody signed
        out in this browser. The page is kept as you left it.
      </Form>
    </Modal>
  );
}

function Form({ children }: { children: preact.ComponentChildren }) {
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  useEffect(() => {
    field.current?.focus();
    // Another tab of this browser may have signed in.
    const onLook = () => !document.hidden && void ask();
    document.addEventListener("visibilitychange", onLook);
    return () => document.removeEventListener("visibilitychange", onLook);
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const input = field.current;
    if (busy || !input) return;
    setBusy(true);
    setError(undefined);
    try {
      await signIn(input.value.trim());
    } catch (thrown) {
      setError(sentence((thrown as Error).message));
      input.focus();
      input.select();
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="door" onSubmit={(event) => void submit(event)}>
      <h1 id="sign-in">
        <img src="/icon.svg" alt="" width="26" height="26" /> Sign in to Halyard
      </h1>
      <p class="quiet">{children}</p>
      {/* Password managers file a password under a name. */}
      <input type="text" name="username" autocomplete="username" value={location.host} hidden />
      <label>
        Key
        <input
          ref={field}
          type="password"
          name="key"
          autocomplete="current-password"
          spellcheck={false}
          required
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? "sign-in-error" : undefined}
        />
      </label>
      {error && (
        <p id="sign-in-error" role="alert" class="problem">
          {error}
        </p>
      )}
      <button type="submit" class="main" aria-disabled={busy || undefined}>
        Sign in
      </button>
      <p class="quiet note">
        This browser stays signed in for twelve hours, or until you sign out. The page does not keep
        the key.
      </p>
    </form>
  );
}
