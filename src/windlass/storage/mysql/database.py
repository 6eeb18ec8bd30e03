"""MariaDB and MySQL as a database: a few connections per lane, used in threads."""

import hashlib
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import LONG, Deadlines
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.connection.pending_nudges import PendingWakeups
from windlass.storage.database import Lane, Watch
from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.pool import Checkout, MysqlPool
from windlass.storage.mysql.sql_literals import interpolate, literal
from windlass.storage.mysql.verb_runner import VerbRunner
from windlass.storage.sql.statements import Dialect, Rows, Scripts, split

_SIZES = {Lane.STORE: 4, Lane.WORK: 4, Lane.RENEW: 1, Lane.GENERAL: 8}
#: Seconds to wait for the migration lock before asking again.
_PATIENCE = 5


class MysqlDatabase:
    kind = "mysql"
    schema: str | None = None

    def __init__(
        self,
        address: Address,
        *,
        now: str | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._address = address
        self._deadlines = deadlines or Deadlines()
        self._now = now or dialect.NOW
        self._scripts = Scripts(dialect.driver_dialect(self._now))
        self._verbs = VerbRunner(self._scripts)
        self._pools: dict[Lane, MysqlPool] = {}
        self._watches: set[MysqlWatch] = set()

    def check_exists(self) -> None:
        """Nothing: connecting never creates it."""

    @retry_deadlocks
    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        seconds = self._deadlines.verb(lane, verb, params)
        async with self._pool(lane).checkout() as checkout:
            return await checkout.call(
                lambda link: self._verbs.run_alone(link, verb, params), seconds=seconds
            )

    @asynccontextmanager
    async def transaction(self, lane: Lane = Lane.GENERAL) -> AsyncIterator["MysqlSession"]:
        async with self._pool(lane).checkout() as checkout:
            await checkout.call(MysqlConnection.begin)
            try:
                yield MysqlSession(checkout, self._verbs, lane, self._deadlines)
            except BaseException:
                if not checkout.lost:
                    await checkout.call(MysqlConnection.rollback)
                raise
            await checkout.call(MysqlConnection.commit)

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        (statement,), bound = self._scripts.prepare(text), self._scripts.bind(params)
        async with self._pool(Lane.GENERAL).checkout() as checkout:
            return await checkout.call(
                lambda link: link.query(interpolate(statement, bound)), seconds=LONG
            )

    async def script(self, text: str) -> None:
        """Run statements one by one; if one fails, what can be rolled back is."""

        def work(link: MysqlConnection) -> None:
            link.begin()
            try:
                link.migrate(split(text))
            except BaseException:
                link.rollback()
                raise
            link.commit()

        async with self._pool(Lane.GENERAL).checkout() as checkout:
            await checkout.call(work, seconds=LONG)

    @asynccontextmanager
    async def migration_lock(self) -> AsyncIterator[None]:
        # Locks belong to the whole server, so the name includes the database.
        name = literal(f"windlass {hashlib.md5(self._address.name.encode()).hexdigest()}")
        async with self._pool(Lane.WORK).checkout() as checkout:
            while True:
                [row] = await _ask(checkout, f"select get_lock({name}, {_PATIENCE}) as got")
                if row["got"]:
                    break
            try:
                yield
            finally:
                if not checkout.lost:
                    await _ask(checkout, f"select release_lock({name})")

    def caller_dialect(self, placeholder: str) -> Dialect:
        return dialect.caller_dialect(placeholder, self._now)

    async def nudge(self, queues: Sequence[str]) -> None:
        for watch in self._watches:
            watch.hear(queues)

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        return MysqlWatch(queues, self._watches)

    async def stopped_writers(self) -> Sequence[str]:
        return []

    async def readable_files(self) -> Sequence[str]:
        return []

    async def warnings(self) -> Sequence[str]:
        async with self._pool(Lane.GENERAL).checkout() as checkout:
            found = await _ask(
                checkout, f"show global variables where variable_name in {literal(WATCHED)}"
            )
        return warnings({row["Variable_name"].lower(): row["Value"] for row in found})

    async def read_only(self) -> str:
        async with self._pool(Lane.GENERAL).checkout() as checkout:
            [row] = await _ask(checkout, "select @@global.read_only as refuses")
        return "it runs with read_only" if row["refuses"] else ""

    async def close(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.close()

    def _pool(self, lane: Lane) -> MysqlPool:
        if lane not in self._pools:
            self._pools[lane] = MysqlPool(
                self._address,
                name=f"windlass {lane.value}",
                size=_SIZES[lane],
                place=self._deadlines.place(lane),
                usual=self._deadlines.usual(lane),
                suspect=self._drop_idle,
            )
        return self._pools[lane]

    def _drop_idle(self) -> None:
        """Drop idle connections after one has failed: on a silent link each would cost a deadline,
        and a server that became read-only may no longer be the primary."""
        for pool in self._pools.values():
            pool.drop_idle()


class MysqlSession:
    """Verbs inside one open transaction."""

    def __init__(
        self, checkout: Checkout, verbs: VerbRunner, lane: Lane, deadlines: Deadlines
    ) -> None:
        self._checkout = checkout
        self._verbs = verbs
        self._lane = lane
        self._deadlines = deadlines

    async def run(self, verb: str, /, **params: Any) -> Rows:
        seconds = self._deadlines.verb(self._lane, verb, params)
        return await self._checkout.call(partial(self._within, verb, params), seconds=seconds)

    def _within(self, verb: str, params: Mapping[str, Any], link: MysqlConnection) -> Rows:
        return self._verbs.run_within(link, verb, params)


async def _ask(checkout: Checkout, text: str) -> Rows:
    return await checkout.call(lambda link: link.query(text))


#: The settings that decide about durability.
WATCHED = ("innodb_flush_log_at_trx_commit", "innodb_doublewrite", "log_bin", "sync_binlog")


def warnings(settings: Mapping[str, str]) -> Sequence[str]:
    """A sentence for each loss that these settings allow; empty if none."""
    return list(_warnings({name: value.lower() for name, value in settings.items()}))


def _warnings(settings: Mapping[str, str]) -> Iterator[str]:
    flush = settings.get("innodb_flush_log_at_trx_commit", "1")
    if flush not in ("1", "3"):  # 3 is MariaDB's: as safe as 1
        yield (
            f"The server runs with innodb_flush_log_at_trx_commit = {flush}: "
            "acknowledged jobs can be lost in a crash"
        )
    if settings.get("innodb_doublewrite", "on") in ("off", "0", "detect_only"):
        yield (
            "The server runs with innodb_doublewrite off: "
            "a crash can leave pages half written, and jobs with them"
        )
    if settings.get("log_bin", "off") in ("on", "1") and settings.get("sync_binlog", "1") != "1":
        yield (
            f"The server runs with sync_binlog = {settings['sync_binlog']}: after a crash of the "
            "machine its replicas can lack jobs it has acknowledged"
        )


class MysqlWatch:
    """Waits for nudges sent through the same database object. The server cannot pass them on:
    polling finds the jobs of other processes."""

    def __init__(self, queues: Sequence[str] | None, watches: "set[MysqlWatch]") -> None:
        self._queues = None if queues is None else frozenset(queues)
        self._wakeups = PendingWakeups()
        self._watches = watches
        watches.add(self)

    async def wait(self, timeout: float) -> Collection[str]:
        return await self._wakeups.wait(timeout)

    async def close(self) -> None:
        self._watches.discard(self)

    def hear(self, queues: Collection[str]) -> None:
        """Wake the waiter, if one of these queues is watched."""
        self._wakeups.add(queues if self._queues is None else self._queues.intersection(queues))
