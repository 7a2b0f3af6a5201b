"""Brings the tables of `../../migrations` into the database. It may run twice.

`python -m billing.migrate`
"""

from pathlib import Path

from .db import db

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


def migrate() -> list[str]:
    """Runs what is new, in order; the names of it."""
    db.all("create table if not exists migrations (name text primary key)")
    done = {row.name for row in db.all("select name from migrations")}
    new = [path for path in sorted(MIGRATIONS.glob("*.sql")) if path.name not in done]
    for path in new:
        # Statements that are sent together, without values, are one transaction.
        db.all(f"{path.read_text()}; insert into migrations (name) values ('{path.name}')")
    return [path.name for path in new]


if __name__ == "__main__":
    print(*migrate(), sep="\n")
