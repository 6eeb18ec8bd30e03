"""Rules of a checkup about the database: each takes what was found and answers how it stands."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from windlass.core.durations import words
from windlass.core.monitoring.checks import Check, broken, failed, ok, warning
from windlass.errors import WindlassError
from windlass.errors.wording import counted, listed

#: Clocks that differ by more are told of.
_SKEW = timedelta(seconds=2)
#: A snapshot held for longer, or over more transactions, is told of.
_PINNED = timedelta(minutes=10)
_PINNED_TRANSACTIONS = 1_000_000
#: Rows that nobody needs, from when on they are told of: so many, and so many for each that is needed.
_DEAD_ROWS, _DEAD_SHARE = 100_000, 5
_TELL_OF_POOLER = "Set `database.listen_url` to a direct address of the database."
_UNPIN: Mapping[str, str] = {
    "transaction": "Let it commit, or end it: select pg_terminate_backend(…).",
    "prepared": "Commit or roll it back: `commit prepared …`, `rollback prepared …`.",
    "slot": "Let its subscriber catch up, or drop it: select pg_drop_replication_slot(…).",
}


class OldSnapshot(NamedTuple):
    """Who keeps the database from clearing away old rows: a transaction, a prepared one or a replication
    slot; for how long, and over how many transactions, as far as that can be told."""

    kind: str
    name: str
    held: timedelta | None
    transactions: int


class DeadRows(NamedTuple):
    """Rows of a table that are needed, those that nobody can see any more, and when it was last cleared."""

    table: str
    live: int
    dead: int
    cleared: timedelta | None


def unreachable(error: WindlassError) -> Check:
    """Why there is no answer. A pooler refuses the settings that we ask of a direct connection."""
    if "startup parameter" not in error.reason:
        return failed("database", error)
    return broken(
        "pooler",
        "A pooler is in between, and the settings do not say so: it refuses settings of a direct "
        "connection.",
        _TELL_OF_POOLER,
    )


def writable(refuses: str) -> Check:
    """Whether the database takes writes; `refuses` is why it does not."""
    if not refuses:
        return ok("writable", "The database takes writes.")
    return broken(
        "writable",
        f"The database is read-only: {refuses}. Nothing can be enqueued, and workers wait.",
        "Make it writable, or point WINDLASS_DATABASE_URL at the primary.",
    )


def durability(warnings: Sequence[str]) -> list[Check]:
    """Whether the database keeps what it acknowledges; `warnings` are why it may not."""
    fix = "Change it in the database, unless losing jobs in a crash is fine here."
    if not warnings:
        return [ok("durable", "The database is durable: commits survive a crash.")]
    return [warning("durable", f"{text}.", fix) for text in warnings]


def readable(files: Sequence[str]) -> Check:
    """Whether other users of the machine may read the database's files."""
    if not files:
        return ok("files", "Only their owner can read the database's files.")
    names = " ".join(shlex.quote(file) for file in files)
    told = f"Other users of this machine may read {counted(len(files), 'file')} of the database."
    return warning("files", told, f"chmod go-rwx {names}, unless they are meant to.")


def clock_skew(skew: timedelta, *, error: timedelta) -> Check:
    """How far the database's clock is ahead of this machine's, give or take `error`."""
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
    """Whether the server that answers is the one the installation's epoch belongs to."""
    if None not in (noted, server) and noted != server:
        return broken(
            "epoch",
            "Another database server answers than before: it was restored, or a replica promoted.",
            "windlass db new-epoch, or start a worker, which does it by itself.",
        )
    since = begun_at.strftime("%Y-%m-%d %H:%M UTC")
    return ok("epoch", f"No restore or promotion was noted since {since}.")


def pooling(backends: Sequence[int | None], *, told: bool) -> Check:
    """Whether connections share the server's processes, as behind a transaction pooler; `told` is
    whether the settings say so."""
    known = [each for each in backends if each is not None]
    if len(set(known)) == len(known):
        return ok("pooler", "No transaction pooler is in between.")
    if told:
        return ok("pooler", "A transaction pooler is in between, and the settings say so.")
    return broken(
        "pooler",
        "Connections share the server's processes: a transaction pooler is between, and Windlass is "
        "not told. Wake-up signals get lost, and statements may fail.",
        _TELL_OF_POOLER,
    )


def listening(place: str, *, reached: bool, heard: bool) -> Check:
    """Whether wake-up signals come by the direct address that the settings name."""
    if heard:
        return ok("listening", f"Wake-up signals come by {place}.")
    fix = "Correct `database.listen_url`: until then jobs start late, when workers poll."
    if reached:
        told = f"{place} answers, and wake-up signals do not come by it: is it the same database?"
        return broken("listening", told, fix)
    return broken("listening", f"The address for wake-up signals, {place}, does not answer.", fix)


def pinned(found: Sequence[OldSnapshot]) -> list[Check]:
    """Whether somebody keeps old rows from being cleared away."""
    held = [each for each in found if _is_long(each)]
    if not held:
        return [ok("pinned", "No long transaction blocks vacuum.")]
    return [
        warning(
            "pinned",
            f"{each.name} keeps old rows from being cleared away"
            + (f", for {words(each.held)}" if each.held else "")
            + f" and {counted(each.transactions, 'transaction')}.",
            _UNPIN[each.kind],
        )
        for each in held
    ]


def vacuum(tables: Sequence[DeadRows]) -> list[Check]:
    """Whether rows that nobody needs are cleared away in time."""
    behind = [
        each
        for each in tables
        if each.dead >= _DEAD_ROWS and each.dead >= _DEAD_SHARE * max(each.live, 1)
    ]
    if tables and not behind:
        return [ok("vacuum", "Old rows of the queue are cleared away in time.")]
    return [
        warning(
            "vacuum",
            f"{each.table} has {each.dead:,} rows that nobody needs, beside {each.live:,}; "
            + (
                f"it was cleared {words(each.cleared)} ago."
                if each.cleared is not None
                else "it was never cleared."
            ),
            f"Let autovacuum come sooner, or run `vacuum {each.table}`; first see to what is pinned.",
        )
        for each in behind
    ]


def isolation(level: str) -> Check:
    """What transactions of our connections see; anything above read committed makes them wait."""
    spelled = level.replace("-", " ").lower()
    if spelled == "read committed":
        return ok("isolation", "Transactions are read committed.")
    return broken(
        "isolation",
        f"Transactions are {spelled}, although Windlass asks for read committed.",
        "Something between changes what sessions ask for: look at the proxy and at init_connect.",
    )


def journal(mode: str) -> Check:
    """How SQLite keeps what it writes."""
    if mode in ("wal", "memory"):
        return ok("journal", f"The journal mode is {mode}.")
    return warning(
        "journal",
        f"The journal mode is {mode}: who reads and who writes wait for each other.",
        "A newer SQLite lets Windlass use the write-ahead log (3.51.3, 3.50.7 or 3.44.6).",
    )


def stopped_writers(processes: Sequence[str]) -> Check:
    """Whether a process stands still in the middle of a write, so that no other can write."""
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
