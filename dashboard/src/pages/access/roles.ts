/** What each role may do, in words. */
import type { Role } from "../../api/calls.ts";

export const ROLES: readonly { role: Role; may: string; loses: string }[] = [
  {
    role: "producer",
    may: "Create and read jobs; retry, cancel, run now and run as new, one job at a time.",
    loses: "Programs that use it create no more jobs: each of their calls is refused.",
  },
  {
    role: "worker",
    may: "What a producer may; and claim jobs, renew leases, write checkpoints, report.",
    loses:
      "Workers that use it get no more jobs, and cannot report what they run now: its leases " +
      "lapse, and other workers start those jobs again.",
  },
  {
    role: "admin",
    may:
      "What a worker may; and delete jobs, act on many at once, pause queues, forget keys, and " +
      "see and change what is on this page.",
    loses: "Programs that use it are refused.",
  },
];

export const DEFAULT: Role = "producer";
