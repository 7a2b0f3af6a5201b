"""The producer of the quickstart: a renewal script that may run twice.

`python examples/renewals.py`, with `halyard serve` and the worker running.
"""

from halyard import Halyard

halyard = Halyard()

for subscription in ["sub_1", "sub_2"]:
    job = halyard.jobs.create(
        queue="billing",
        task="charge-subscription",
        payload={"subscription_id": subscription, "period": "2026-11"},
        idempotency_key=f"charge:{subscription}:2026-11",
    )
    print(f"{subscription}: {job.id} replayed={job.replayed}")

    ended = halyard.jobs.wait(job.id, timeout=60)
    print(f"{subscription}: {ended.state} {ended.result}")

job = halyard.jobs.create(
    queue="billing",
    task="close-month",
    payload={"period": "2026-11"},
    idempotency_key="close:2026-11",
)
ended = halyard.jobs.wait(job.id, timeout=60)
print("close-month:", ended.state, *[checkpoint.name for checkpoint in ended.checkpoints])
