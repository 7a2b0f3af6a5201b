/** The first job in each language, with this server's address in it. */
import type { Stats } from "../../api/calls.ts";

export const LANGUAGES = ["Node.js", "Python", "curl"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Step {
  title: string;
  code: string;
  /** What the server sees when it is done. */
  seenAs: Seen;
}

/** A job was created, a worker called, a job was completed. */
export type Seen = "created" | "worker" | "completed";

/** What there is to do in one language. */
export interface Way {
  /** Before the steps, once: what the server cannot see. */
  before?: { title: string; code: string };
  steps: Step[];
}

const bearer = (keyed: boolean): string =>
  keyed ? '\n  -H "Authorization: Bearer $HALYARD_API_KEY" \\' : "";
const variable = (keyed: boolean): string => (keyed ? "HALYARD_API_KEY=hyd_… " : "");

/**
 * Where a server asks for a key, programs read it from the environment. Commands run as they stand,
 * one after the other in one terminal.
 */
export const WAYS: Record<Language, (address: string, keyed: boolean) => Way> = {
  curl: (address, keyed) => ({
    steps: [
      {
        title: "Create a job",
        seenAs: "created",
        code: `curl -s ${address}/v1/jobs \\${bearer(keyed)}
  -H 'Content-Type: application/json' -d '{
  "task": "charge-subscription",
  "payload": {"subscription_id": "sub_1", "period": "2026-11"},
  "idempotency_key": "charge:sub_1:2026-11"
}'`,
      },
      {
        title: "Be its worker: claim it, for ten minutes",
        seenAs: "worker",
        code: `CLAIM=$(curl -s ${address}/v1/jobs/claim \\${bearer(keyed)}
  -H 'Content-Type: application/json' -d '{
  "worker": {"id": "wrk_by_hand"},
  "queues": ["default"],
  "wait_ms": 20000,
  "lease_ms": 600000
}'); echo "$CLAIM"`,
      },
      {
        title: "Say that the work is done, with the id and the token of the answer",
        seenAs: "completed",
        code: `JOB=$(echo "$CLAIM" | grep -o 'job_[0-9a-z]*' | head -n 1)
TOKEN=$(echo "$CLAIM" | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
curl -s ${address}/v1/jobs/finish \\${bearer(keyed)}
  -H 'Content-Type: application/json' -d '{
  "outcomes": [{
    "id": "'"$JOB"'", "token": "'"$TOKEN"'",
    "outcome": "completed", "result": {"charge": "ch_1"}
  }]
}'`,
      },
    ],
  }),
  "Node.js": (address, keyed) => ({
    before: {
      title: "Get the package, with Node.js 20.19 or newer",
      code: `# It is not published yet. In a clone of Halyard, build and pack it:
npm --prefix sdk/node ci
npm --prefix sdk/node run build
export HALYARD_NODE="$PWD/target/$(npm pack --silent --pack-destination target ./sdk/node)"
# In a folder of your own, in the same terminal:
npm install "$HALYARD_NODE"`,
    },
    steps: [
      {
        title: "Create a job: create.mjs",
        seenAs: "created",
        code: `// HALYARD_URL=${address} ${variable(keyed)}node create.mjs
import { Halyard } from "@halyard/node";

const halyard = new Halyard();
await halyard.jobs.create({
  task: "charge-subscription",
  payload: { subscription_id: "sub_1", period: "2026-11" },
  idempotencyKey: "charge:sub_1:2026-11",
});`,
      },
      {
        title: "Run a worker: worker.mjs",
        seenAs: "worker",
        code: `// HALYARD_URL=${address} ${variable(keyed)}node worker.mjs
import { Halyard } from "@halyard/node";

const worker = new Halyard().worker({ queues: ["default"] });
worker.task("charge-subscription", async (job) => {
  console.log("charging", job.payload, "under the key", job.id);
});
await worker.start();`,
      },
    ],
  }),
  Python: (address, keyed) => ({
    before: {
      title: "Get the package, with Python 3.11 or newer",
      code: `# It is not published yet. In a folder of your own, from a clone of Halyard beside it:
python3 -m venv venv
venv/bin/pip install ../halyard/sdk/python`,
    },
    steps: [
      {
        title: "Create a job: create.py",
        seenAs: "created",
        code: `# HALYARD_URL=${address} ${variable(keyed)}venv/bin/python create.py
from halyard import Halyard

halyard = Halyard()
halyard.jobs.create(
    task="charge-subscription",
    payload={"subscription_id": "sub_1", "period": "2026-11"},
    idempotency_key="charge:sub_1:2026-11",
)`,
      },
      {
        title: "Run a worker: worker.py",
        seenAs: "worker",
        code: `# HALYARD_URL=${address} ${variable(keyed)}venv/bin/python worker.py
from halyard import Halyard, Job


def charge(job: Job) -> None:
    print("charging", job.payload, "under the key", job.id)


with Halyard() as halyard:
    worker = halyard.worker(queues=["default"])
    worker.task("charge-subscription", charge)
    worker.run()`,
      },
    ],
  }),
};

/** Nothing has ended here yet, and there is one job at most. */
export const isNew = ({ totals, counts }: Stats): boolean =>
  totals.created === 0 ||
  (totals.created === 1 && counts.queued + counts.scheduled + counts.running + counts.retrying > 0);
