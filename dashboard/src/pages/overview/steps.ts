/** The first job in each language, with this server's address in it. */
export const LANGUAGES = ["Node.js", "Python", "curl"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Step {
  title: string;
  code: string;
}

const bearer = (keyed: boolean): string =>
  keyed ? '\n  -H "Authorization: Bearer $HALYARD_API_KEY" \\' : "";
const variable = (keyed: boolean): string => (keyed ? "HALYARD_API_KEY=hyd_… " : "");

/** Where a server asks for a key, programs read it from the environment. */
export const STEPS: Record<Language, (address: string, keyed: boolean) => [Step, Step]> = {
  curl: (address, keyed) => [
    {
      title: "Create a job",
      code: `curl -s ${address}/v1/jobs \\${bearer(keyed)}
  -H 'Content-Type: application/json' -d '{
  "task": "charge-subscription",
  "payload": {"subscription_id": "sub_1", "period": "2026-11"},
  "idempotency_key": "charge:sub_1:2026-11"
}'`,
    },
    {
      title: "Be its worker",
      code: `curl -s ${address}/v1/jobs/claim \\${bearer(keyed)}
  -H 'Content-Type: application/json' -d '{
  "worker": {"id": "wrk_by_hand"},
  "queues": ["default"],
  "wait_ms": 20000
}'`,
    },
  ],
  "Node.js": (address, keyed) => [
    {
      title: "Create a job",
      code: `// HALYARD_URL=${address} ${variable(keyed)}node create.js
import { Halyard } from "@halyard/node";

const halyard = new Halyard();
await halyard.jobs.create({
  task: "charge-subscription",
  payload: { subscription_id: "sub_1", period: "2026-11" },
  idempotencyKey: "charge:sub_1:2026-11",
});`,
    },
    {
      title: "Run a worker",
      code: `// HALYARD_URL=${address} ${variable(keyed)}node worker.js
import { Halyard } from "@halyard/node";

const worker = new Halyard().worker({ queues: ["default"] });
worker.task("charge-subscription", async (job) => {
  console.log("charging", job.payload, "under the key", job.id);
});
await worker.start();`,
    },
  ],
  Python: (address, keyed) => [
    {
      title: "Create a job",
      code: `# HALYARD_URL=${address} ${variable(keyed)}python create.py
from halyard import Halyard

halyard = Halyard()
halyard.jobs.create(
    task="charge-subscription",
    payload={"subscription_id": "sub_1", "period": "2026-11"},
    idempotency_key="charge:sub_1:2026-11",
)`,
    },
    {
      title: "Run a worker",
      code: `# HALYARD_URL=${address} ${variable(keyed)}python worker.py
from halyard import Halyard, Job


def charge(job: Job) -> None:
    print("charging", job.payload, "under the key", job.id)


with Halyard() as halyard:
    worker = halyard.worker(queues=["default"])
    worker.task("charge-subscription", charge)
    worker.run()`,
    },
  ],
};
