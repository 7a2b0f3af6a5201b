"""Halyard's SDK for Python with its default settings: threads that create, plain handlers."""

from __future__ import annotations

from halyard import Halyard, HalyardError, Job

from driver import Client, Options, Payload, Tally, run

QUEUE = "bench"
TASK = "task"


class HalyardClient(Client):
    """Uses `Halyard`."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._halyard = Halyard(f"http://127.0.0.1:{options['port']}")

    def create(self, payload: Payload) -> None:
        """Creates a job."""
        self._halyard.jobs.create(queue=QUEUE, task=TASK, payload=payload)

    def create_batch(self, payloads: list[Payload]) -> None:
        """Creates jobs in one call."""
        results = self._halyard.jobs.create_batch(
            {"queue": QUEUE, "task": TASK, "payload": payload} for payload in payloads
        )
        for result in results:
            if isinstance(result, HalyardError):
                raise result

    def work(self) -> Options:
        """Runs a worker in this process."""
        tally = Tally(self.options)
        worker = self._halyard.worker([QUEUE], concurrency=self.options["concurrency"])

        @worker.task(TASK)
        def handle(job: Job) -> None:
            tally.handled(job.payload)

        with worker:
            tally.begun()
            tally.all_done.wait(self.options["seconds"])
        return tally.result()

    def left(self) -> Options:
        """By the server's counters."""
        counts = self._halyard.stats.get().counts
        left = sum(counts.to_dict().values()) - counts.completed
        return {"left": left, "done": counts.completed}


if __name__ == "__main__":
    run(HalyardClient)
