/** The first job in each language, with this server's address in it. */
export const LANGUAGES = ["Node.js", "Python", "curl"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Step {
  title: string;
  code: string;
}

export const STEPS: Record<Language, (address: string) => [Step, Step]> = {
  curl: (address) => [
    {
      title: "Create a job",
      code: `curl -s ${address}/v1/jobs -H 'Content-Type: application/json' -d '{
  "task": "charge-subscription",
  "payload": {"subscription_id": "sub_1", "period": "2026-11"},
  "idempotency_key": "charge:sub_1:2026-11"
}'`,
    },
    {
      title: "Be its worker",
      code: `curl -s ${address}/v1/jobs/claim -H 'Content-Type: application/json' -d '{
  "worker": {"id": "wrk_by_hand"},
  "queues": ["default"],
  "wait_ms": 20000
}'`,
    },
  ],
  "Node.js": (address) => [
    {
      title: "Create a job",
      code: `// HALYARD_URL=${address} node create.js
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
      code: `// HALYARD_URL=${address} node worker.js
import { Halyard } from "@halyard/node";

const worker = new Halyard().worker({ queues: ["default"] });
worker.task("charge-subscription", async (job) => {
  console.log("charging", job.payload, "under the key", job.id);
});
await worker.start();`,
    },
  ],
  Python: (address) => [
    {
      title: "Create a job",
      code: `# HALYARD_URL=${address} python create.py
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
      code: `# HALYARD_URL=${address} python worker.py
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
