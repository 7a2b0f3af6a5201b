/** What somebody did, in words. */
import type { AuditEntry } from "../../api/calls.ts";

const DID: Record<AuditEntry["action"], string> = {
  retry: "retried",
  cancel: "cancelled",
  run_now: "ran now",
  run_as_new: "ran as new",
  delete: "deleted",
  forget_key: "forgot the key of",
  pause: "paused the queue",
  resume: "resumed the queue",
  create_key: "made the key",
  revoke_key: "revoked the key",
  sign_in: "signed in",
};

/** An action of a later server is shown by its own name. */
export const did = (action: string): string =>
  isKnown(action) ? DID[action] : action.replaceAll("_", " ");

const isKnown = (action: string): action is AuditEntry["action"] => Object.hasOwn(DID, action);

/** The job that was the pattern of a new one. */
export const patternOf = ({ action, target }: AuditEntry): string | undefined =>
  action === "run_as_new" && target !== null ? target : undefined;

/** By which filter the jobs of an entry were chosen, as the call said; empty is all jobs. */
export const filterOf = ({ action, target, job_ids }: AuditEntry): string | undefined =>
  job_ids.length > 0 && action !== "run_as_new" && target !== null ? target : undefined;

/** The queue that an entry is about, to look at. */
export const queueOf = ({ action, target }: AuditEntry): string | undefined =>
  (action === "pause" || action === "resume") && target !== null ? target : undefined;
