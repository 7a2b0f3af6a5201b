"""The processed store (`sdk/scenarios/processed.json`) on every store."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from halyard import (
    AlreadyInProgressError,
    InvalidValueError,
    KeyReusedError,
    NonRetryableError,
    OutcomeUnknownError,
    SettingsError,
)
from halyard._processed.fingerprint import canonical, fingerprint_of
from halyard.processed import (
    AsyncMemoryStore,
    AsyncRedisStore,
    Claim,
    Completed,
    InProgress,
    MemoryStore,
    Mine,
    PostgresStore,
    RedisStore,
    fingerprint,
    idempotent,
)
from halyard.testing import fake_async_job, fake_job

from .stores import STORES, Face, new_key, opened
from .work import WORKS

FILE = Path(__file__).resolve().parents[3] / "scenarios" / "processed.json"
SHARED: dict[str, Any] = json.loads(FILE.read_text())


@pytest.fixture(scope="module", params=STORES)
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    """Every store in turn."""
    with opened(request.param) as face:
        yield face


@pytest.mark.parametrize("vector", SHARED["fingerprints"], ids=lambda vector: vector["payload"])
def test_fingerprints(vector: dict[str, str]) -> None:
    assert canonical(vector["payload"]) == vector["canonical"]
    assert fingerprint_of(vector["payload"]) == vector["fingerprint"]


def test_the_fingerprint_of_a_value() -> None:
    payload = {"subscription_id": "sub_1", "period": "2026-11"}
    assert fingerprint(payload) == SHARED["fingerprints"][4]["fingerprint"]
    assert fingerprint(Decimal("1.10")) == fingerprint(1.1) == fingerprint_of("11e-1")
    assert fingerprint(10**5000) == fingerprint_of("1e5000")
    with pytest.raises(InvalidValueError, match=r"a\[0\]"):
        fingerprint({"a": [float("nan")]})


def said(face: Face, claim: Claim) -> Any:
    """What a claim got, in the words of the list."""
    claimed = face.claim(claim)
    if isinstance(claimed, Mine):
        return {"mine": {"unknown": claimed.unknown}}
    if isinstance(claimed, Completed):
        return {"completed": claimed.response}
    if isinstance(claimed, InProgress):
        assert 0 < claimed.left_ms <= max(claim.in_progress_ms, 600_000)
        return {"in_progress": True}
    return {"reused": True}


def take(face: Face, prefix: str, step: dict[str, Any]) -> Any:
    """Takes one step; what it got."""
    (verb, asked), _ = step.items()
    asked = {**asked, "key": prefix + asked["key"]}
    if verb == "claim":
        return said(face, Claim(**asked))
    return face.change(verb, *asked.values())


@pytest.mark.parametrize("case", SHARED["cases"], ids=lambda case: case["name"])
def test_cases(face: Face, case: dict[str, Any]) -> None:
    prefix = new_key()
    for step in case["steps"]:
        assert take(face, prefix, step) == step["gets"], step


def again(face: Face, job: Any) -> str:
    """Runs work that returns `again`, and says what that came to in the words of the list."""
    try:
        response = face.once(job.id, lambda: "again", job=job, on_unknown="fail")
    except AlreadyInProgressError as error:
        return "in progress" if 0 < error.delay <= 900 else f"in progress for {error.delay} s"
    except NonRetryableError as error:
        return "unknown" if "it is not known" in str(error) else str(error)
    return "runs" if response == "again" else "stored"


def never_ends(face: Face, job: Any) -> str:
    """Another run, while the work goes on."""
    begun, end = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        end.wait()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(face.once, job.id, work, job=job)
        assert begun.wait(60)
        try:
            return again(face, job.next_attempt())
        finally:
            end.set()
            running.result()


@pytest.mark.parametrize("ending", SHARED["endings"], ids=lambda ending: ending["work"])
def test_endings(face: Face, ending: dict[str, str]) -> None:
    job: Any = face.job(id=new_key("ending"))
    if ending["work"] == "never ends":
        assert never_ends(face, job) == ending["again"]
        return
    work = WORKS[ending["work"]]
    returned = True
    try:
        face.once(job.id, lambda: work(job), job=job)
    except Exception:
        returned = False
    assert returned == ending["work"].endswith("returns")
    assert again(face, job.next_attempt()) == ending["again"]


def nobody_answers(unknown: Any) -> None:
    """Asks in vain."""
    raise RuntimeError(f"nobody answers for {unknown.key}")


ANSWERS: dict[str, Any] = {
    "run": "run",
    "fail": "fail",
    "a function that answers with a response": lambda unknown: {"told of": unknown.job.id},
    "a function that answers that nothing was done": lambda unknown: None,
    "a function that throws": nobody_answers,
}


@pytest.mark.parametrize("row", SHARED["on_unknown"], ids=lambda row: row["on_unknown"])
def test_on_unknown(face: Face, row: dict[str, str]) -> None:
    job: Any = face.job(id=new_key("unknown"))
    with pytest.raises(OutcomeUnknownError):
        face.once(job.id, lambda: WORKS["throws OutcomeUnknownError"](job))
    on_unknown = ANSWERS[row["on_unknown"]]
    next_job = job.next_attempt()
    try:
        response = face.once(job.id, lambda: "ran", job=next_job, on_unknown=on_unknown)
        got = "runs" if response == "ran" else "that response, and the work does not run"
        assert response in ("ran", {"told of": job.id})
    except NonRetryableError:
        got = "NonRetryableError"
    except RuntimeError as error:
        is_its = str(error) == f"nobody answers for {job.id}"
        got = "its error, and the work does not run" if is_its else str(error)
    assert got == row["gets"]
    assert again(face, job.next_attempt()) == row["then"]


def test_one_of_many_works(face: Face) -> None:
    key = new_key("race")
    runs: list[int] = []
    barrier = threading.Barrier(30)

    def work() -> str:
        runs.append(1)
        return "a response"

    def call(_number: int) -> Any:
        barrier.wait()
        try:
            return face.once(key, work)
        except AlreadyInProgressError:
            return "in progress"

    with ThreadPoolExecutor(30) as pool:
        results = set(pool.map(call, range(30)))
    assert "a response" in results <= {"a response", "in progress"}
    assert runs == [1]


def test_whole_handlers(face: Face) -> None:
    calls: list[str] = []

    def charge(job: Any) -> dict[str, Any]:
        calls.append(job.id)
        return {"charge": f"{job.payload} for {job.id}", "fees": (1, 2)}

    once = face.idempotent(charge)
    job: Any = face.job(4_800, id=new_key("job"))
    first = once(job)
    assert first == {"charge": f"4800 for {job.id}", "fees": [1, 2]}
    assert once(job.next_attempt()) == first
    assert calls == [job.id]

    prefix = new_key()
    keyed = face.idempotent(charge, key=lambda job: prefix + job.tags[0], expires_in=60)
    charged = keyed(face.job(1, tags=["sub_1"]))
    assert keyed(face.job(1, tags=["sub_1"])) == charged
    with pytest.raises(KeyReusedError) as refused:
        keyed(face.job(2, tags=["sub_1"]))
    assert refused.value.key == f"{prefix}sub_1"


@dataclass
class Charge:
    """A response."""

    id: str
    amount: int


def test_responses(face: Face) -> None:
    bad = new_key("bad")
    with pytest.raises(InvalidValueError, match=r"a\[0\]"):
        face.once(bad, lambda: {"a": [float("nan")]})
    # The work was done: the next run finds that, and does not do it again unasked.
    with pytest.raises(NonRetryableError, match="never said"):
        face.once(bad, lambda: 1, on_unknown="fail")
    key = new_key("typed")
    big = 2**80
    for _ in range(2):
        assert face.once(key, lambda: Charge("ch_1", big), into=Charge) == Charge("ch_1", big)
    assert face.once(key, lambda: None) == {"id": "ch_1", "amount": big}
    assert face.once(new_key("none"), lambda: None) is None
    job: Any = face.job(id=new_key("decimals"))
    job._start = replace(job._start, decimals=True)
    for _ in range(2):
        price = face.once(job.id, lambda: Decimal("1.10"), job=job)
        assert isinstance(price, Decimal)
        assert str(price) == "1.10"


def test_a_claim_that_is_repeated_meets_itself(face: Face) -> None:
    """A client may send again what was not answered: redis-py does."""

    class Repeating(MemoryStore):
        def claim(self, claim: Claim) -> Any:
            face.claim(claim)
            return face.claim(claim)

        def leave(self, key: str, owner: str) -> bool:
            raise AssertionError("one round trip is enough")

        def complete(self, *arguments: Any) -> bool:
            return face.change("complete", *arguments)

        def remove(self, key: str, owner: str) -> bool:
            return face.change("remove", key, owner)

    store = Repeating()
    # Nothing was begun, so nothing is unknown.
    assert store.once(new_key("repeated"), lambda: "done", on_unknown="fail") == "done"
    held = new_key("held")

    def second() -> str:
        # Another owner's, also in the same process.
        with pytest.raises(AlreadyInProgressError):
            store.once(held, lambda: "done twice")
        return "done"

    assert store.once(held, second) == "done"


def test_what_cannot_be_used() -> None:
    store = MemoryStore()
    for key in ("", "x" * 256, 7):
        with pytest.raises(SettingsError, match="1 to 255"):
            store.once(key, lambda: 1)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="on_unknown"):
        store.once("k", lambda: 1, on_unknown="ask")
    with pytest.raises(SettingsError, match="expires_in"):
        store.once("k", lambda: 1, expires_in=-1)
    for make, message in (
        (lambda: RedisStore(object()), "a client of `redis`"),  # type: ignore[arg-type]
        (lambda: AsyncRedisStore(object()), "RedisStore is for"),  # type: ignore[arg-type]
        (lambda: PostgresStore(object()), "a Connection of psycopg 3"),  # type: ignore[arg-type]
    ):
        with pytest.raises(SettingsError, match=message):
            make()


def test_what_a_whole_handler_cannot_use() -> None:
    store = MemoryStore()
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"in_progress": "soon"}, "in_progress is seconds or a timedelta, not str"),
        ({"in_progress": -1}, "in_progress is -1 s, and a duration is 0 or more"),
        ({"expires_in": -1}, "expires_in is -1 s"),
        ({"on_unknown": "ask"}, "on_unknown"),
        ({"key": "k"}, "a function of its job"),
    )
    for terms, message in wrong:
        with pytest.raises(SettingsError, match=message):
            idempotent(lambda job: 1, store=store, **terms)
        with pytest.raises(SettingsError, match=message):
            idempotent(store=store, **terms)
    # None of them is found out only when a job comes.
    with pytest.raises(SettingsError, match="in_progress is -1 s"):
        store.once("k", lambda: 1, in_progress=-1)


@pytest.mark.parametrize("is_decorator", [False, True])
async def test_a_whole_handler_may_say_for_how_long_it_is_in_progress(is_decorator: bool) -> None:
    store, job = AsyncMemoryStore(), fake_async_job()

    async def first(job: Any) -> None:
        with pytest.raises(AlreadyInProgressError) as error:
            await idempotent(second, store=store)(job.next_attempt())
        assert error.value.delay > 3_000

    async def second(job: Any) -> None:
        raise AssertionError("it is in progress")

    # Longer than its record is kept after it.
    times: dict[str, Any] = {"in_progress": timedelta(hours=1), "expires_in": 0}
    lasting = (
        idempotent(store=store, **times)(first)
        if is_decorator
        else idempotent(first, store=store, **times)
    )
    await lasting(job)


async def test_kinds_do_not_mix() -> None:
    async def coroutine(job: Any) -> None:
        pass

    def plain(job: Any) -> None:
        pass

    with pytest.raises(SettingsError, match="a coroutine handler needs a store of asyncio"):
        idempotent(coroutine, store=MemoryStore())
    with pytest.raises(SettingsError, match="a plain handler needs a store that blocks"):
        idempotent(plain, store=AsyncMemoryStore())
    with pytest.raises(SettingsError, match="coroutines need a store of asyncio"):
        await MemoryStore().once("k", functools.partial(coroutine, None))


async def test_decorators() -> None:
    store, async_store, calls = MemoryStore(), AsyncMemoryStore(), []

    @idempotent(store=store)
    def charge(job: Any, payload: Charge) -> str:
        """Charges."""
        calls.append(payload)
        return "charged"

    @idempotent(store=async_store, on_unknown="fail")
    async def close(job: Any) -> str:
        calls.append(job.id)
        return "closed"

    assert (charge.__name__, charge.__doc__) == ("charge", "Charges.")
    job, async_job = fake_job(), fake_async_job()
    for _ in range(2):
        assert charge(job, Charge("ch", 1)) == "charged"
        assert await close(async_job) == "closed"
    assert calls == [Charge("ch", 1), async_job.id]
    async_store.clear()
    store.clear()
    assert charge(job, Charge("ch", 2)) == "charged"
    assert await close(async_job) == "closed"
    assert len(calls) == 4
