"""Scenarios of networks and servers that fail."""

from __future__ import annotations

import re
import socket
from typing import Any

import pytest

from halyard import (
    ApiError,
    CreatedJob,
    HalyardConnectionError,
    Job,
    NewJob,
    UnexpectedAnswerError,
)
from halyard.testing import Server

from .clients import Clients, at_once
from .proxy import Fate, losing_first
from .registry import data, scenario
from .script import Player
from .work import KINDS, Work

#: The client and the worker that go together.
PAIRS = [("sync" if kind == "plain" else "async", kind) for kind in KINDS]


@scenario
@pytest.mark.parametrize(("clients", "kind"), PAIRS, indirect=["clients"])
def test_lost_answers(clients: Clients, server: Server, kind: str) -> None:
    lose(clients, server, "lose answer", kind)


@scenario
@pytest.mark.parametrize(("clients", "kind"), PAIRS, indirect=["clients"])
def test_lost_requests(clients: Clients, server: Server, kind: str) -> None:
    lose(clients, server, "lose request", kind)


def lose(clients: Clients, server: Server, fate: Fate, kind: str) -> None:
    """Every call once through a proxy that loses the first of each."""
    ran = []

    def plain(job: Job) -> Any:
        ran.append(job.id)
        job.checkpoint("a")
        return job.step("b", lambda: 7)

    async def coroutine(job: Any) -> Any:
        async def seven() -> int:
            return 7

        ran.append(job.id)
        await job.checkpoint("a")
        return await job.step("b", seven)

    handler = plain if kind == "plain" else coroutine
    with losing_first(server.address, fate) as proxy:
        halyard = clients.connect(proxy.url)
        keyed = halyard.jobs.create(task="x", idempotency_key="k")
        assert not keyed.replayed
        alone = halyard.jobs.create(task="x", payload=1)
        assert not alone.replayed
        joined = at_once(20, lambda number: halyard.jobs.create(task="x", payload=number))
        assert all(isinstance(job, CreatedJob) and not job.replayed for job in joined)
        jobs: list[NewJob] = [{"task": "x"}, {"task": "x", "payload": 2}]
        batch = halyard.jobs.create_batch(jobs)
        assert all(isinstance(job, CreatedJob) and not job.replayed for job in batch)
        assert len(list(halyard.jobs.list(task="x"))) == 24

        halyard.jobs.cancel(alone.id)
        assert halyard.jobs.retry(alone.id).life == 2
        assert halyard.jobs.get(alone.id).life == 2
        new = halyard.jobs.run_as_new(alone.id)
        assert len(list(halyard.jobs.list(task="x"))) == 25
        halyard.jobs.delete(new.id)
        halyard.jobs.cancel(keyed.id)
        assert halyard.jobs.bulk("retry", [keyed.id])[0].status == 200
        assert halyard.jobs.get(keyed.id).life == 2

        with Work(server, {"t": handler}, kind, url=proxy.url) as work:
            job = halyard.jobs.create(task="t", queue="q")
            ended = work.ended(job.id)
            assert (ended.state, ended.result, ended.starts) == ("completed", 7, 1)
            assert [point.name for point in ended.checkpoints] == ["a", "b"]
            assert ran == [job.id]


@scenario
def test_temporary_refusals(clients: Clients) -> None:
    for script in data("temporary_refusals", "scripts"):
        answers = [{"body": job_text(), **answer} for answer in script["answers"]]
        with Player(answers) as player:
            halyard = clients.connect(player.url)
            if script["ends"] == 200:
                assert halyard.jobs.get("job_1").id == "job_1"
            else:
                with pytest.raises(ApiError) as error:
                    halyard.jobs.get("job_1")
                assert error.value.status == script["ends"]
            assert len(player.times) == len(answers), script
            pairs = zip(answers, player.times, player.times[1:], strict=False)
            for answer, before, after in pairs:
                asked = answer.get("retry_after", "0")
                if asked.isdigit():
                    assert after - before >= float(asked), script


def job_text() -> str:
    """The least that is a job."""
    return '{"id":"job_1","task":"t","queue":"q","state":"queued","checkpoints":[],"attempts":[]}'


@scenario
def test_silence(clients: Clients) -> None:
    for script in data("silence", "scripts"):
        with Player([{**answer, "body": job_text()} for answer in script["answers"]]) as player:
            settings = {"timeout": 2, "retry_for": script["retry_for_ms"] / 1000}
            halyard = clients.connect(player.url, **settings)
            if script["ends"] is None:
                with pytest.raises(HalyardConnectionError, match=r"no answer from .* in time"):
                    halyard.jobs.get("job_1")
            else:
                assert halyard.jobs.get("job_1").id == "job_1"
            assert len(player.times) == script["requests"], script


@scenario
def test_not_there(clients: Clients) -> None:
    for script in data("not_there", "scripts"):
        with Player(script["answers"]) as player:
            jobs = clients.connect(player.url).jobs
            of_job = {"delete": jobs.delete, "forget_key": jobs.forget_key}

            def call(name: str = script["call"], jobs: Any = jobs, of_job: Any = of_job) -> None:
                if name == "by_key":
                    assert jobs.by_key("t", "k") is None
                else:
                    of_job[name]("job_1")

            if script["ends"] is None:
                call()
            else:
                with pytest.raises(ApiError) as error:
                    call()
                assert error.value.status == script["ends"], script
            assert len(player.times) == len(script["answers"]), script


@scenario
def test_odd_answers(clients: Clients) -> None:
    for answer in data("odd_answers", "answers"):
        with Player([answer]) as player:
            halyard = clients.connect(player.url)
            with pytest.raises((ApiError, UnexpectedAnswerError)) as error:
                halyard.jobs.get("job_1")
            found = error.value
            assert isinstance(found, (ApiError, UnexpectedAnswerError))
            assert found.status == answer["status"]
            assert str(answer["status"]) in str(found)
            assert answer.get("message", "") in str(found)
            assert "secret" not in str(found)
            if "code" in answer:
                assert isinstance(found, ApiError)
                assert found.code == answer["code"]
            assert len(player.times) == 1


@scenario
def test_not_running(clients: Clients) -> None:
    # A port that was free a moment ago.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    halyard = clients.connect(url, retry_for=0)
    with pytest.raises(HalyardConnectionError) as error:
        halyard.jobs.get("job_1")
    why = str(error.value).removeprefix(f"cannot reach {url}: is `halyard serve` running? ")
    # What the system said, which asyncio says in a sentence of its own.
    assert re.fullmatch(r"\((Connection refused|Connect call failed .*)\)", why)
