"""Database servers that stop, die, lock, refuse connections, or have a full disk."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pymysql

from tests.chaos.run import Bite, ChaosRun, Fault
from tests.databases.connect import connect_mariadb, execute
from tests.databases.kinds import NoDatabase
from tests.databases.servers import Server

_TABLES = "windlass_live, windlass_later, windlass_ended"
_MOST = 400


def _server(run: ChaosRun) -> Server:
    assert run.setup.server is not None
    return run.setup.server


def _is_mariadb(run: ChaosRun) -> bool:
    return run.setup.kind == "mariadb"


async def _in_thread(run: ChaosRun, fault: Callable[[], object]) -> Bite:
    return await run.through(lambda: asyncio.to_thread(fault))


async def restart(run: ChaosRun) -> Bite:
    """The server is stopped in good order, and started."""
    return await _in_thread(run, _server(run).restart)


async def kill(run: ChaosRun) -> Bite:
    """SIGKILL to every process of the server; every lease runs out before it is back."""
    server = _server(run)

    def fault() -> None:
        server.kill()
        time.sleep(1.2 * run.lease)
        server.start()

    return await _in_thread(run, fault)


async def terminate_sessions(run: ChaosRun) -> Bite:
    """The sessions of all processes are ended by an administrator."""
    ended = await asyncio.to_thread(_terminate, run)
    bite = await run.through(lambda: asyncio.sleep(0))
    return Bite(ended, f"{ended} sessions were terminated", bite.recovered_seconds)


def _terminate(run: ChaosRun) -> int:
    if not _is_mariadb(run):
        found = execute(
            run.setup.direct_url,
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()",
        )
        return sum(bool(ended) for (ended,) in found)
    with _admin(run) as cursor:
        return _kill_sessions(cursor)


def _kill_sessions(cursor: Any) -> int:
    """End every session of MariaDB that has a database."""
    ended = 0
    cursor.execute("select id from information_schema.processlist where db is not null")
    for (id,) in cursor.fetchall():
        with contextlib.suppress(pymysql.Error):
            cursor.execute(f"kill {id}")
            ended += 1
    return ended


@contextmanager
def _admin(run: ChaosRun) -> Iterator[Any]:
    """A session that stays while all others go: of no database."""
    url = run.setup.direct_url.rpartition("/")[0]
    with (
        contextlib.closing(connect_mariadb(url + "/")) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


async def hold_locks(run: ChaosRun) -> Bite:
    """A backup locks the tables: everybody can read, and nobody can write."""

    def fault() -> None:
        if _is_mariadb(run):
            backup: Any = connect_mariadb(run.setup.direct_url)
            lock = "flush tables with read lock"
        else:
            backup = psycopg.connect(run.setup.direct_url)
            lock = f"lock table {_TABLES} in exclusive mode"
        with contextlib.closing(backup), backup.cursor() as cursor:
            cursor.execute(lock)
            time.sleep(1.2 * run.lease)

    return await _in_thread(run, fault)


async def pin_snapshot(run: ChaosRun) -> Bite:
    """A transaction that has read something stays open while jobs come and go."""

    def seen(cursor: Any) -> int:
        cursor.execute("select count(*) from windlass_ended")
        return int(cursor.fetchone()[0])

    if _is_mariadb(run):
        reader: Any = connect_mariadb(run.setup.direct_url)
        begin = "start transaction with consistent snapshot"
    else:
        reader = psycopg.connect(run.setup.direct_url, autocommit=True)
        begin = "begin isolation level repeatable read"
    with contextlib.closing(reader), reader.cursor() as cursor:
        cursor.execute(begin)
        before = seen(cursor)
        await run.more(60, within=20)
        pinned = seen(cursor) == before
    [(now,)] = execute(run.setup.direct_url, "select count(*) from windlass_ended")
    more = int(now) - before
    return Bite(int(pinned) * max(more, 0), f"a snapshot stayed while {more} jobs ended")


async def exhaust_connections(run: ChaosRun) -> Bite:
    """Others take every connection, and those in use are ended."""
    refused: list[BaseException] = []

    async def fault() -> None:
        if _is_mariadb(run):
            await _few_connections(run, refused)
        else:
            await _all_connections(run, refused)

    bite = await run.through(fault)
    return Bite(
        len(refused) and bite.bites,
        f"no connection was left: {bite.evidence}",
        bite.recovered_seconds,
    )


async def _few_connections(run: ChaosRun, refused: list[BaseException]) -> None:
    with _admin(run) as cursor:
        cursor.execute("select @@max_connections")
        [(most,)] = cursor.fetchall()
        held = []
        try:
            cursor.execute("set global max_connections = 10")
            _kill_sessions(cursor)
            for _ in range(_MOST):
                try:
                    held.append(connect_mariadb(run.setup.direct_url))
                except pymysql.Error as error:
                    refused.append(error)
                    break
            await _noticed(run)
        finally:
            cursor.execute(f"set global max_connections = {most}")
            for connection in held:
                connection.close()


async def _all_connections(run: ChaosRun, refused: list[BaseException]) -> None:
    held = []
    try:
        _terminate(run)
        for _ in range(_MOST):
            try:
                held.append(await asyncio.to_thread(psycopg.connect, run.setup.direct_url))
            except psycopg.Error as error:
                refused.append(error)
                break
        await _noticed(run)
    finally:
        for connection in held:
            connection.close()


async def _noticed(run: ChaosRun) -> None:
    """Wait until somebody has said that it has trouble."""
    before = run.outages()
    await run.until(lambda: run.outages() > before, within=10, every=0.3)


async def read_only(run: ChaosRun) -> Bite:
    """The server takes no writes for a while, as after a failover to a standby."""

    async def fault() -> None:
        with _read_only_mariadb(run) if _is_mariadb(run) else _read_only_postgres(run):
            await _noticed(run)
            await asyncio.sleep(run.lease / 2)

    return await run.through(fault)


@contextmanager
def _read_only_mariadb(run: ChaosRun) -> Iterator[None]:
    right = "read only admin on *.* {} windlass@'127.0.0.1'"
    # A session keeps the rights it began with, so that this one can undo what it did.
    with _admin(run) as cursor:
        cursor.execute("set global read_only = 1")
        cursor.execute(f"revoke {right.format('from')}")
        try:
            _kill_sessions(cursor)
            yield
        finally:
            cursor.execute("set global read_only = 0")
            cursor.execute(f"grant {right.format('to')}")


@contextmanager
def _read_only_postgres(run: ChaosRun) -> Iterator[None]:
    setting = "alter system set default_transaction_read_only = "
    with psycopg.connect(run.setup.direct_url, autocommit=True) as admin:
        admin.execute("set default_transaction_read_only = off")
        try:
            admin.execute(f"{setting} on".encode())
            admin.execute("select pg_reload_conf()")
            yield
        finally:
            admin.execute(f"{setting} off".encode())
            admin.execute("select pg_reload_conf()")


async def fill_disk(run: ChaosRun) -> Bite:
    """There is no room for another byte where the database writes."""
    assert run.setup.disk is not None
    ballast, server = run.setup.disk / "ballast", _server(run)

    async def fault() -> None:
        try:
            await asyncio.to_thread(fill, ballast)
            await _noticed(run)
        finally:
            ballast.unlink(missing_ok=True)
        await asyncio.to_thread(_bring_back, server)

    return await run.through(fault)


def fill(ballast: Path) -> None:
    """Write until there is no room."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))


def _bring_back(server: Server) -> None:
    """A server that gave up is started as its supervisor would."""
    for _ in range(50):
        try:
            server.answer()
            return
        except NoDatabase:
            server.start()
            return
        except (psycopg.Error, pymysql.Error):
            time.sleep(0.2)
    server.kill()
    server.start()


FAULTS: dict[str, Fault] = {
    "database restarted": restart,
    "database killed": kill,
    "sessions terminated": terminate_sessions,
    "locks held": hold_locks,
    "snapshot pinned": pin_snapshot,
    "connections exhausted": exhaust_connections,
    "database read-only": read_only,
}
DISK_FAULTS: dict[str, Fault] = {"disk full": fill_disk}
