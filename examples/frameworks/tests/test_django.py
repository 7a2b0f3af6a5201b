"""What Django adds: rows in a database, and a job for each that is committed."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable

import pytest
from conftest import App
from programs import MANAGE, PROGRAMS, Program
from running import Answer, call
from test_programs import CHARGE, state_of, stored

from halyard.testing import Server

(DJANGO,) = (program for program in PROGRAMS if program.name == "django")

#: A reference that no commit can satisfy.
FAILS_AT_COMMIT = [
    "create table nobody (id integer primary key)",
    "create table owed (invoice integer references nobody (id) deferrable initially deferred)",
    "create trigger owe after insert on billing_invoice begin "
    "insert into owed values (new.id); end",
]


class Billing:
    """The program, its database, and its other commands."""

    def __init__(self, app: App, environment: dict[str, str]) -> None:
        self.app = app
        self.database = environment["DATABASE"]
        self._environment = environment

    def post(self, **changed: object) -> Answer:
        """Asks for a charge."""
        return call("POST", f"{self.app.url}/charges", CHARGE | changed)

    def ask_again(self) -> str:
        """What `manage.py request_charges` says."""
        command = [*MANAGE, "request_charges"]
        done = subprocess.run(
            command,
            cwd=DJANGO.folder(),
            env=self._environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """Asks the database behind Django's back."""
        database = sqlite3.connect(self.database)
        try:
            with database:
                return database.execute(statement).fetchall()
        finally:
            database.close()


@pytest.fixture
def billing(run: Callable[[Program], App], environment: dict[str, str]) -> Billing:
    return Billing(run(DJANGO), environment)


def test_the_worker_writes_with_the_orm(billing: Billing) -> None:
    ids = [billing.post(subscription_id=f"sub_{number}").body["id"] for number in range(20)]
    worker = billing.app.work()
    assert worker is not None
    assert {state_of(billing.app, id)["state"] for id in ids} == {"completed"}
    charges = billing.sql("select charge from billing_invoice order by id")
    assert charges == [(f"ch_{id}",) for id in ids]
    # It has threads that wait for the next job, and no connection meanwhile.
    worker.until_it_has_closed(billing.database)


def test_a_row_whose_job_could_not_be_created(billing: Billing, server: Server) -> None:
    """What a crash between commit and create leaves, too: a row without a job."""
    server.kill()
    assert billing.post().status == 503
    assert billing.post(period="2026-12").status == 503
    assert billing.sql("select count(*) from billing_invoice") == [(2,)]
    server.restart()
    assert stored(server) == []

    # The caller who comes again gets the job of the row that is there.
    again = billing.post()
    assert (again.status, again.body["replayed"]) == (202, False)
    # The command finds the row whose caller never did, and can be run at any time.
    assert billing.ask_again() == "2 unpaid, 1 without a job until now"
    assert billing.ask_again() == "2 unpaid, 0 without a job until now"
    assert len(stored(server)) == 2
    assert billing.sql("select count(*) from billing_invoice") == [(2,)]


def test_a_transaction_that_is_rolled_back_has_no_job(billing: Billing, server: Server) -> None:
    """The commit itself fails here: everything before it went well."""
    for statement in FAILS_AT_COMMIT:
        billing.sql(statement)
    assert billing.post().status == 500
    assert billing.sql("select count(*) from billing_invoice") == [(0,)]
    assert stored(server) == []


def test_an_invoice_that_was_changed_after_its_job(billing: Billing) -> None:
    id = billing.post().body["id"]
    billing.sql("update billing_invoice set amount = 1000")
    conflict = billing.post(amount=1_000)
    assert conflict.status == 409
    assert conflict.body == {
        "error": "charged with other values",
        "id": id,
        "changed": ["/amount"],
    }
