"""The small pure parts: ids, pauses, batches, bodies, records, errors."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import halyard
from halyard import (
    AbortReason,
    ApiError,
    Halyard,
    HalyardError,
    IdempotencyConflictError,
    InvalidValueError,
    RetryAfterError,
    SettingsError,
    UnexpectedAnswerError,
    WaitTimeoutError,
    _batch,
    _ids,
    _new_job,
    _problem,
    _retry,
    records,
)
from halyard._data import Data
from halyard._durations import milliseconds
from halyard._generated import wire
from halyard._record import Member, Record
from halyard.testing import fake_job


def test_ids() -> None:
    # The first three are vectors of the TypeID specification.
    for number, expected in [
        (0, "job_00000000000000000000000000"),
        (10, "job_0000000000000000000000000a"),
        (2**128 - 1, "job_7zzzzzzzzzzzzzzzzzzzzzzzzz"),
        (0x0110C8531D0952D8D73E1194E95B5F19, "job_0123456789abcdefghjkmnpqrs"),
    ]:
        assert _ids.typed("job", number) == expected
    made = [_ids.make("job") for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(len(one) == 30 for one in made)
    assert [one[:14] for one in made] == sorted(one[:14] for one in made)


def test_temporary() -> None:
    temporary = [status for status in range(100, 600) if _retry.is_temporary(status)]
    assert temporary == [408, 429, *range(500, 600)]


@pytest.mark.parametrize(
    ("repeat", "asked", "chance", "expected"),
    [
        (1, None, 0.0, 0.05),
        (1, None, 1.0, 0.025),
        (2, None, 0.0, 0.1),
        (6, None, 0.0, 1.6),
        (7, None, 0.0, 2.0),
        (10**9, None, 0.0, 2.0),
        (1, 1.0, 0.0, 1.0),
        (1, 1.0, 1.0, 1.25),
        (1, 60.0, 1.0, 62.0),
        (7, 0.0, 0.0, 2.0),
    ],
)
def test_pauses(repeat: int, asked: float | None, chance: float, expected: float) -> None:
    assert _retry.pause(repeat, asked, chance) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        (" 120 ", 120),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 08:49:27 GMT", 0),
        ("18446744073709551615", 365 * 86_400),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("²", None),
    ],
)
def test_retry_after(value: str, expected: float | None) -> None:
    assert _retry.retry_after(value, 784_111_777) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([1], [1]),
        ([1] * 1000, [1000]),
        ([1] * 1001, [1000, 1]),
        ([2**20] * 9, [8, 1]),
        ([20 * 2**20, 1, 1], [1, 2]),
        ([8 * 2**20, 1], [1, 1]),
    ],
)
def test_sharing_out(sizes: list[int], expected: list[int]) -> None:
    parts = _batch.parts(sizes)
    assert [len(part) for part in parts] == expected
    assert [place for part in parts for place in part] == list(range(len(sizes)))


@given(st.lists(st.integers(1, 10 * 2**20), max_size=30))
def test_every_part_fits(sizes: list[int]) -> None:
    parts = _batch.parts(sizes)
    assert [place for part in parts for place in part] == list(range(len(sizes)))
    for part in parts:
        total = sum(sizes[place] for place in part)
        assert total <= _batch.BATCH_BYTES_MAX or len(part) == 1


def refusal(status: int, body: str) -> ApiError:
    """The error that an answer is."""
    return _problem.read(status, "req_1", body.encode())


@pytest.mark.parametrize("status", [400, 413])
def test_refused_batches(status: int) -> None:
    faults = """{"code":"invalid_field","detail":"2 faults","errors":[
        {"code":"invalid_field","pointer":"/jobs/1/queue","message":"queue is bad"},
        {"code":"payload_too_large","pointer":"/jobs/3/payload","message":"too large"},
        {"code":"invalid_field","pointer":"/jobs/1/priority","message":"too high"},
        {"code":"invalid_field","pointer":"/jobs/9/priority","message":"beyond"}]}"""
    # Whichever status the batch got, each item has its own.
    items = _batch.divide(refusal(status, faults), 4)
    assert items is not None
    assert {place: str(error) for place, error in items.items()} == {
        1: "queue is bad (400 invalid_field)",
        3: "too large (413 payload_too_large)",
    }
    assert [fault.pointer for fault in items[1].errors] == ["/queue", "/priority"]
    assert _batch.divide(refusal(413, '{"code":"payload_too_large"}'), 4) == {}
    for status in (401, 403, 404, 409, 415, 421, 503):
        assert _batch.divide(refusal(status, "{}"), 4) is None
    assert _batch.divide(HalyardError("broken"), 4) is None


def test_bodies() -> None:
    item = _new_job.item({"task": "t"})
    assert item.body == f'{{"task":"t","id":"{item.made_id}"}}'
    item = _new_job.item(
        {
            "task": "t",
            "queue": None,
            "payload": [1, 2],
            "id": "job_1",
            "delay": timedelta(seconds=2),
            "tags": ("a",),
            "run_at": datetime(2026, 11, 1, 12, tzinfo=timezone(timedelta(hours=1))),
            "if_failed": "retry",
        }
    )
    assert item.body == (
        '{"task":"t","payload":[1,2],"id":"job_1","delay_ms":2000,"tags":["a"],'
        '"run_at":"2026-11-01T11:00:00.000Z","if_failed":"retry"}'
    )
    assert (item.made_id, item.alone) == (None, True)
    assert not _new_job.item({"task": "t", "if_failed": "return"}).alone


@pytest.mark.parametrize(
    ("job", "error", "words"),
    [
        ({}, SettingsError, "needs a task"),
        ({"task": "t", "idempotencyKey": "k"}, SettingsError, "'idempotency_key'"),
        ({"task": "t", "delay": -1}, SettingsError, "delay"),
        ({"task": "t", "timeout": "5m"}, SettingsError, "timeout"),
        ({"task": "t", "backoff": {"initial_ms": 1}}, SettingsError, "initial"),
        ({"task": 1}, InvalidValueError, "task"),
        (None, SettingsError, "not NoneType"),
        ({"task": "t", "backoff": "exp"}, InvalidValueError, "not 'exp'"),
        ({"task": "t", "tags": 5}, InvalidValueError, "not int"),
        ({"task": "t", "tags": "eu"}, InvalidValueError, "list"),
        ({"task": "t", "run_at": datetime(2026, 1, 1)}, InvalidValueError, "time zone"),
    ],
)
def test_bodies_that_are_none(job: Any, error: type[HalyardError], words: str) -> None:
    with pytest.raises(error, match=words):
        _new_job.item(job)


def test_durations() -> None:
    assert milliseconds("x", 1.5) == 1500
    assert milliseconds("x", timedelta(minutes=5)) == 300_000
    for wrong in (float("nan"), -1, True, "5m"):
        with pytest.raises(SettingsError):
            milliseconds("x", wrong)  # type: ignore[arg-type]


def test_a_page_takes_every_filter_of_a_list() -> None:
    jobs = Halyard("http://127.0.0.1:1").jobs
    filters = set(inspect.signature(jobs.list).parameters)
    assert set(inspect.signature(jobs.page).parameters) == {*filters, "cursor"}


SHAPES: dict[type[Record], Any] = {
    records.ErrorReport: wire.ErrorReport,
    records.JobBackoff: wire.Backoff,
    records.Checkpoint: wire.Checkpoint,
    records.Attempt: wire.Attempt,
    records.JobSummary: wire.JobSummary,
    records.JobRecord: wire.Job,
    records.CreatedJob: wire.CreatedJob,
    records.RetriedJob: wire.RetriedJob,
    records.JobDetail: wire.JobDetail,
    records.JobPage: wire.ListAnswer,
    records.KeyHolder: wire.KeyHolder,
    records.Counts: wire.Counts,
    records.Queue: wire.Queue,
    records.LiveWorker: wire.Worker,
    records.Task: wire.Task,
    records.Totals: wire.Totals,
    records.Minute: wire.Minute,
    records.Stats: wire.Stats,
    records.Version: wire.Version,
}


@pytest.mark.parametrize("record", SHAPES, ids=lambda record: record.__name__)
def test_records_have_every_member(record: type[Record]) -> None:
    members = {
        name
        for kind in record.__mro__
        for name, value in vars(kind).items()
        if isinstance(value, Member)
    }
    assert members == set(typing.get_type_hints(SHAPES[record]))


def test_states() -> None:
    assert typing.get_args(records.State) == typing.get_args(wire.State)
    sent = set(_new_job.NewJob.__annotations__)
    durations = {"idempotency_ttl", "delay", "timeout"}
    expected = {f"{name}_ms" if name in durations else name for name in sent}
    assert expected == set(typing.get_type_hints(wire.CreateJob))


def test_records() -> None:
    job = records.JobRecord({"id": "job_1", "created_at": "2026-11-29T08:15:30.250Z"})
    assert job.created_at == datetime(2026, 11, 29, 8, 15, 30, 250_000, tzinfo=timezone.utc)
    assert job == records.JobRecord(dict(job.to_dict()))
    assert job != records.JobDetail(job.to_dict())
    assert "job_1" in repr(job)
    with pytest.raises(UnexpectedAnswerError, match="older server"):
        _ = job.queue


def test_data() -> None:
    job = fake_job({"amount": 1}, id="job_1")
    assert dict(job.data) == {"amount": 1, "jobId": "job_1"}
    assert dict(Data({"jobId": "own"}, "job_1")) == {"jobId": "own"}
    assert dict(Data([1], "job_1")) == {"jobId": "job_1"}
    with pytest.raises(TypeError):
        job.data["amount"] = 2  # type: ignore[index]


PROBLEM = '{"code":"idempotency_key_reused","job_id":"job_1","changed":["/a"],"detail":"no"}'


@pytest.mark.parametrize(
    "error",
    [
        refusal(404, '{"code":"job_not_found","detail":"no x"}'),
        refusal(422, PROBLEM),
        refusal(409, '{"code":"checkpoint_conflict","checkpoint":{"name":"a","value":{"n":1}}}'),
        halyard.HalyardConnectionError("cannot reach it"),
        WaitTimeoutError("job_1", 3),
        InvalidValueError("payload", "a[1]", "no"),
        UnexpectedAnswerError("GET /", 200, "no"),
        RetryAfterError(timedelta(seconds=3)),
        halyard.NonRetryableError("declined"),
        *(reason.error() for reason in AbortReason),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_a_pickle(error: HalyardError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (str(again), again.__dict__) == (str(error), error.__dict__)
        assert str(again)


def test_conflicts() -> None:
    error = refusal(422, PROBLEM)
    assert isinstance(error, IdempotencyConflictError)
    assert (error.existing_job_id, error.changed, error.request_id) == ("job_1", ["/a"], "req_1")
    assert str(refusal(502, "<html>")) == "<html> (502)"
    assert str(refusal(500, "")) == "answered without a body (500)"
    assert str(refusal(400, '{"title":"New"}')) == "New (400)"


def test_clients_are_not_pickled_and_show_no_key() -> None:
    with Halyard("http://127.0.0.1:1", "hyd_secret") as client:
        assert "secret" not in repr(client)
        for one in (client, client.worker(queues=["q"])):
            with pytest.raises(TypeError, match="in each process"):
                pickle.dumps(one)


@pytest.mark.parametrize("timeout", [0, 0.0, timedelta(0), -1, float("nan"), "30s"])
def test_a_request_needs_time(timeout: Any) -> None:
    for client in (halyard.Halyard, halyard.AsyncHalyard):
        with pytest.raises(SettingsError, match="timeout is ") as error:
            client("http://127.0.0.1:9", timeout=timeout)
        if timeout in (0, timedelta(0)):
            assert "a request needs more than 0 s" in str(error.value)
    Halyard("http://127.0.0.1:9", retry_for=0).close()


def test_results_are_readable() -> None:
    wire = {
        "id": "job_1",
        "task": "charge",
        "queue": "billing",
        "state": "retrying",
        "life": 1,
        "attempt": 2,
        "max_attempts": 20,
        "idempotency_key": None,
        "error": {"type": "TypeError", "message": "no " * 1_000, "stack": "s" * 1_000},
        "payload": {"amount": 4_800},
    }
    begin = (
        "(id='job_1', task='charge', queue='billing', state='retrying', life=1, attempt=2, "
        "max_attempts=20"
    )
    error = f"error={'TypeError: ' + 'no ' * 63!r}, …)"
    assert repr(halyard.JobRecord(wire)) == f"JobRecord{begin}, {error}"
    created = halyard.CreatedJob({**wire, "error": None, "replayed": False})
    assert repr(created) == f"CreatedJob{begin}, replayed=False, …)"
    bulk = records.BulkResult({"id": "job_1", "status": 200, "job": wire}, None)
    assert repr(bulk) == f"BulkResult(id='job_1', status=200, job=JobRecord{begin}, {error})"
    refused = _problem.read(404, "", b'{"code":"job_not_found","detail":"there is no job"}')
    bulk = records.BulkResult({"id": "job_x", "status": 404, "error": {}}, refused)
    assert repr(bulk) == (
        "BulkResult(id='job_x', status=404, error=ApiError('there is no job (404 job_not_found)'))"
    )
