"""What the tests stand on: a database for all of them, and a payment provider for each."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from billing.db import db
from billing.migrate import migrate
from billing.payments import payments
from billing.test_helpers import provider, with_points, written


def setting(name: str) -> str:
    """What the tests need to be told."""
    if name not in os.environ:
        pytest.exit("name the program in HALYARD_BIN, and run this by: scripts/services run …")
    return os.environ[name]


@pytest.fixture(scope="session")
def database() -> Iterator[None]:
    """A database of its own, with all migrations, at `DATABASE_URL`."""
    server = setting("HALYARD_TEST_POSTGRES_URL")
    name = f"billing_{secrets.token_hex(16)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            os.environ["DATABASE_URL"] = make_conninfo(server, dbname=name)
            migrate()
            yield
        finally:
            db.close()
            drop = sql.SQL("drop database {} with (force)")
            connection.execute(drop.format(sql.Identifier(name)))


@pytest.fixture(autouse=True)
def _world(database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Empty tables, a provider that knows nobody, and crash points for proofs."""
    db.all("truncate subscriptions, invoices, ledger, statements restart identity")
    monkeypatch.setattr(db, "all", with_points(db.all, written))
    monkeypatch.setattr(payments, "charge", with_points(payments.charge, lambda **_: "the charge"))
    monkeypatch.setattr(provider, "epoch", 0)
    vars(payments).pop("client", None)
    command = [setting("HALYARD_BIN"), "demo-provider", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            greeting = process.stdout.readline().strip()
            monkeypatch.setenv("STRIPE_API_URL", greeting.removeprefix("listening on "))
            yield
        finally:
            process.kill()
