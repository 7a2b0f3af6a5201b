/**
 * Who is signed in, and what they may do. The key itself is in no script's reach: the server keeps
 * it behind a cookie that scripts cannot read. It decides what is allowed; this only says it first.
 */
import { computed, signal } from "@preact/signals";

import { currentSession, endSession, type Session, startSession } from "../api/calls.ts";
import { hearSignedOut, Problem } from "../api/client.ts";

/** The newest that the server told; `undefined` until it has let this page in. */
export const session = signal<Session | undefined>(undefined);
/** The server wants a key before it answers anything more. */
export const locked = signal(false);
/** Why there is no answer yet. */
export const trouble = signal("");

const AGAIN_MS = 2_000;

let asking: Promise<void> | undefined;

/** Asks the server who this is; until it has let the page in, again and again. */
export function ask(): Promise<void> {
  asking ??= once().finally(() => {
    asking = undefined;
  });
  return asking;
}

async function once(): Promise<void> {
  try {
    session.value = await currentSession();
    locked.value = false;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) locked.value = true;
    else if (!session.value) {
      trouble.value = (error as Error).message;
      setTimeout(() => void ask(), AGAIN_MS);
    }
  }
}

// A call may have been refused that was sent before somebody signed in: who knows is asked.
hearSignedOut(() => void ask());

/** Trades a key for a cookie. */
export async function signIn(key: string): Promise<void> {
  await startSession(key);
  // What is being asked may have been sent before.
  await asking;
  await ask();
}

/** Ends the session, and forgets what was shown in it. */
export async function signOut(): Promise<void> {
  await endSession();
  session.value = undefined;
  locked.value = true;
}

/** Nobody needs a key here. */
export const isOpen = computed(() => session.value?.name === null);
export const isAdmin = computed(() => session.value?.role === "admin");

/** What changes something on the server, as the page names it. */
export type Act = "retry" | "cancel" | "run_now" | "run_as_new" | ForAdmins;
type ForAdmins = "delete" | "bulk" | "pause" | "forget_key" | "api_keys";

const FOR_ADMINS: Record<ForAdmins, string> = {
  delete: "Deleting a job",
  bulk: "Acting on many jobs at once",
  pause: "Pausing and resuming a queue",
  forget_key: "Forgetting a key",
  api_keys: "Making and revoking keys",
};

/** Why whoever is signed in may not do it; `undefined` when they may. */
export function forbidden(act: Act): string | undefined {
  const who = session.value;
  if (who?.read_only) return "This server is read-only: it changes nothing for anybody.";
  if (!who || who.role === "admin" || !(act in FOR_ADMINS)) return undefined;
  return `${FOR_ADMINS[act as ForAdmins]} needs a key with the role admin; yours has ${who.role}.`;
}
