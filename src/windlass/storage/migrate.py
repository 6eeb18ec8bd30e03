"""Numbered migrations with an up and a down, applied under a lock, one transaction each.

The files carry the same number and name for every database. A checksum is kept of what was
applied, so that an edited file is noticed instead of silently differing.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.errors import MigrationChanged, SchemaOutdated, SchemaTooNew
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.storage.callers import CallerSession

_FOLDERS = {"postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite"}
_APPLIED = "select number, name, checksum from windlass_migrations order by number"
_NAME = re.compile(r"(\d{4})_(\w+)\.up\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    up: str
    down: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.up.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """The migrations of a database: those applied, and those still to do."""

    applied: Sequence[Migration]
    pending: Sequence[Migration]

    @property
    def version(self) -> int:
        return self.applied[-1].number if self.applied else 0


def migrations(kind: str) -> list[Migration]:
    """All migrations of one kind of database, in order."""
    folder = Path(__file__).with_name(_FOLDERS[kind]) / "migrations"
    found = []
    for entry in folder.iterdir():
        if match := _NAME.fullmatch(entry.name):
            down = folder.joinpath(entry.name.replace(".up.sql", ".down.sql"))
            found.append(
                Migration(
                    int(match[1]), match[2], entry.read_text("utf-8"), down.read_text("utf-8")
                )
            )
    return sorted(found, key=lambda migration: migration.number)


async def status(storage: Storage) -> SchemaStatus:
    """The migrations applied to a database, checked against this Windlass's own files."""
    return _compare(storage.database.kind, await _journal(storage))


def _compare(kind: str, journal: Sequence[tuple[int, str, str]]) -> SchemaStatus:
    known = {migration.number: migration for migration in migrations(kind)}
    newest = max(known)
    applied = []
    for number, name, checksum in journal:
        if number not in known:
            raise SchemaTooNew(found=number, known=newest)
        if known[number].checksum != checksum:
            raise MigrationChanged(
                f"{number:04}_{name}", applied=checksum, installed=known[number].checksum
            )
        applied.append(known.pop(number))
    return SchemaStatus(applied, sorted(known.values(), key=lambda migration: migration.number))


async def migrate(storage: Storage, *, to: int | None = None) -> list[Migration]:
    """Apply what is pending, up to number `to`. Answers what was applied; safe to repeat."""
    database = storage.database
    done = []
    async with database.migration_lock():
        await database.script(_JOURNAL[database.kind])
        for migration in (await status(storage)).pending:
            if to is not None and migration.number > to:
                break
            await database.script(migration.up + _noted(migration))
            done.append(migration)
    return done


async def migrate_in(session: "CallerSession") -> list[Migration]:
    """Apply what is pending to a SQLite file through a transaction that has locked it. Undone if
    that is rolled back; awaits nothing but the session."""
    await session.script(_JOURNAL["sqlite"])
    found = await session.script(_APPLIED)
    journal = [(row["number"], row["name"], row["checksum"]) for row in found]
    pending = _compare("sqlite", journal).pending
    for migration in pending:
        await session.script(migration.up + _noted(migration))
    return list(pending)


async def downgrade(storage: Storage, *, to: int) -> list[Migration]:
    """Take back migrations above number `to`, newest first. Loses what they stored."""
    database = storage.database
    done = []
    async with database.migration_lock():
        for migration in reversed((await status(storage)).applied):
            if migration.number <= to:
                break
            await database.script(
                migration.down
                + f"\ndelete from windlass_migrations where number = {migration.number};\n"
            )
            done.append(migration)
    return done


async def check(storage: Storage) -> None:
    """Refuse a database that is not migrated to what this Windlass needs."""
    now = await status(storage)
    if now.pending:
        raise SchemaOutdated(found=now.version, needed=now.pending[-1].number)


async def _journal(storage: Storage) -> list[tuple[int, str, str]]:
    try:
        found = await storage.database.query(_APPLIED, {})
    except SchemaOutdated:
        return []
    return [(row["number"], row["name"], row["checksum"]) for row in found]


def _noted(migration: Migration) -> str:
    return (
        "\ninsert into windlass_migrations (number, name, checksum) values "
        f"({migration.number}, '{migration.name}', '{migration.checksum}');\n"
    )


_JOURNAL = {
    "postgresql": (
        "create table if not exists windlass_migrations (number integer primary key, "
        "name text not null, checksum text not null, "
        "applied_at timestamptz not null default statement_timestamp());"
    ),
    "sqlite": (
        "create table if not exists windlass_migrations (number integer primary key, "
        "name text not null, checksum text not null, "
        "applied_at text not null default current_timestamp);"
    ),
    "mysql": (
        "create table if not exists windlass_migrations (number integer primary key, "
        "name varchar(191) not null, checksum char(64) not null, "
        "applied_at datetime(6) not null default current_timestamp(6));"
    ),
}
