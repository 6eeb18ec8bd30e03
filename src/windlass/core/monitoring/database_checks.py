"""Rules of `windlass doctor` about the database: each takes findings and returns checks."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from windlass.core.durations import words
from windlass.core.monitoring.checks import Check, broken, failed, ok, warning
from windlass.errors import WindlassError
from windlass.errors.wording import counted, listed

#: Clocks that differ by more are reported.
_SKEW = timedelta(seconds=2)
#: A snapshot held for longer, or over more transactions, is reported.
_PINNED = timedelta(minutes=10)
_PINNED_TRANSACTIONS = 1_000_000
#: Dead rows are reported from this number on, and from this many for each live one.
_DEAD_ROWS, _DEAD_SHARE = 100_000, 5
_SET_LISTEN_URL = "Set `database.listen_url` to a direct address of the database."
_UNPIN: Mapping[str, str] = {
    "transaction": "Let it commit, or end it: select pg_terminate_backend(…).",
    "prepared": "Commit or roll it back: `commit prepared …`, `rollback prepared …`.",
    "slot": "Let its subscriber catch up, or drop it: select pg_drop_replication_slot(…).",
}


class OldSnapshot(NamedTuple):
    """A snapshot that blocks vacuum: a transaction, a prepared one or a replication
    slot; for how long, and over how many transactions, as far as that is known."""

    kind: str
    name: str
    held: timedelta | None
    transactions: int


class DeadRows(NamedTuple):
    """Live and dead rows of a table, and when it was last vacuumed."""

    table: str
    live: int
    dead: int
    cleared: timedelta | None


def unreachable(error: WindlassError) -> Check:
    """Check for a database that cannot be reached. A pooler refuses settings of a direct connection."""
    if "startup parameter" not in error.reason:
        return failed("database", error)
    return broken(
        "pooler",
        "A pooler is in between, and the settings do not say so: it refuses settings of a direct "
        "connection.",
        _SET_LISTEN_URL,
    )


def writable(refuses: str) -> Check:
    """Check whether the database takes writes; `refuses` is why it does not."""
    if not refuses:
        return ok("writable", "The database takes writes.")
    return broken(
        "writable",
        f"The database is read-only: {refuses}. Nothing can be enqueued, and workers wait.",
        "Make it writable, or point WINDLASS_DATABASE_URL at the primary.",
    )


def durability(warnings: Sequence[str]) -> list[Check]:
    """Check whether the database keeps what it acknowledges; `warnings` are why it may not."""
    fix = "Change it in the database, unless losing jobs in a crash is fine here."
    if not warnings:
        return [ok("durable", "The database is durable: commits survive a crash.")]
    return [warning("durable", f"{text}.", fix) for text in warnings]


def readable(files: Sequence[str]) -> Check:
    """Check whether other users of the machine may read the database's files."""
    if not files:
        return ok("files", "Only their owner can read the database's files.")
    names = " ".join(shlex.quote(file) for file in files)
    told = f"Other users of this machine may read {counted(len(files), 'file')} of the database."
    return warning("files", told, f"chmod go-rwx {names}, unless they are meant to.")


def clock_skew(skew: timedelta, *, error: timedelta) -> Check:
    """Check the lead of the database's clock over this machine's, give or take `error`."""
    beyond = abs(skew) - error
    if beyond < _SKEW:
        return ok("clock", "This machine and the database have the same time.")
    way = "behind" if skew > timedelta() else "ahead of"
    return warning(
        "clock",
        f"This machine's clock is {words(abs(skew))} {way} the database's.",
        "Synchronise both. Jobs follow the database's clock, what this machine logs does not.",
    )


def epoch(begun_at: datetime, noted: str | None, server: str | None) -> Check:
    """Check whether the server that answers is the one the installation's epoch belongs to."""
    if None not in (noted, server) and noted != server:
        return broken(
            "epoch",
            "Another database server answers than before: it was restored, or a replica promoted.",
            "windlass db new-epoch, or start a worker, which does it by itself.",
        )
    since = begun_at.strftime("%Y-%m-%d %H:%M UTC")
    return ok("epoch", f"No restore or promotion was noted since {since}.")


def pooling(backends: Sequence[int | None], *, told: bool) -> Check:
    """Check whether connections share the server's processes, as behind a transaction pooler; `told` is
    true if the settings say so."""
    known = [each for each in backends if each is not None]
    if len(set(known)) == len(known):
        return ok("pooler", "No transaction pooler is in between.")
    if told:
        return ok("pooler", "A transaction pooler is in between, and the settings say so.")
    return broken(
        "pooler",
        "A transaction pooler is in between, and the settings do not say so. Wake-up signals get "
        "lost, and statements may fail.",
        _SET_LISTEN_URL,
    )


def listening(place: str, *, reached: bool, heard: bool) -> Check:
    """Check whether wake-up signals come by the direct address that the settings name."""
    if heard:
        return ok("listening", f"Wake-up signals come by {place}.")
    fix = "Correct `database.listen_url`: until then jobs start only when workers poll."
    if reached:
        told = f"{place} answers, and wake-up signals do not come by it: is it the same database?"
        return broken("listening", told, fix)
    return broken("listening", f"The address for wake-up signals, {place}, does not answer.", fix)


def old_snapshots(found: Sequence[OldSnapshot]) -> list[Check]:
    """Check whether a snapshot blocks vacuum."""
    held = [each for each in found if _is_long(each)]
    if not held:
        return [ok("pinned", "No long transaction blocks vacuum.")]
    return [
        warning(
            "pinned",
            f"{each.name} blocks vacuum"
            + (f", for {words(each.held)}" if each.held else "")
            + f" and {counted(each.transactions, 'transaction')}.",
            _UNPIN[each.kind],
        )
        for each in held
    ]


def vacuum(tables: Sequence[DeadRows]) -> list[Check]:
    """Check whether vacuum keeps up with dead rows."""
    behind = [
        each
        for each in tables
        if each.dead >= _DEAD_ROWS and each.dead >= _DEAD_SHARE * max(each.live, 1)
    ]
    if tables and not behind:
        return [ok("vacuum", "Vacuum keeps up with the queue.")]
    return [
        warning(
            "vacuum",
            f"{each.table} has {each.dead:,} dead rows beside {each.live:,} live ones; "
            + (
                f"it was vacuumed {words(each.cleared)} ago."
                if each.cleared is not None
                else "it was never vacuumed."
            ),
            f"Let autovacuum run more often, or run `vacuum {each.table}`; end what blocks it first.",
        )
        for each in behind
    ]


def isolation(level: str) -> Check:
    """Check the isolation level of our connections; anything above read committed makes them wait."""
    spelled = level.replace("-", " ").lower()
    if spelled == "read committed":
        return ok("isolation", "Transactions are read committed.")
    return broken(
        "isolation",
        f"Transactions are {spelled}, although Windlass asks for read committed.",
        "A proxy or init_connect changes the session's setting: correct it there.",
    )


def journal(mode: str) -> Check:
    """Check SQLite's journal mode."""
    if mode in ("wal", "memory"):
        return ok("journal", f"The journal mode is {mode}.")
    return warning(
        "journal",
        f"The journal mode is {mode}: readers and writers wait for each other.",
        "A newer SQLite lets Windlass use the write-ahead log (3.51.3, 3.50.7 or 3.44.6).",
    )


def stopped_writers(processes: Sequence[str]) -> Check:
    """Check whether a process stands still in the middle of a write, so that no other can write."""
    if not processes:
        return ok("writers", "No stopped process keeps the others from writing.")
    return broken(
        "writers",
        f"{listed(processes)} is stopped and keeps the others from writing."
        if len(processes) == 1
        else f"{listed(processes)} are stopped and keep the others from writing.",
        "Let it go on (kill -CONT), or kill it: what it has not committed is undone.",
    )


def _is_long(one: OldSnapshot) -> bool:
    long = one.held is not None and one.held >= _PINNED
    return long or one.transactions >= _PINNED_TRANSACTIONS
