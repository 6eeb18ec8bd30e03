"""PostgreSQL as a database: pools of connections, one per lane."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from windlass.errors import (
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseTimeout,
    DatabaseUnreachable,
    RowSecurityUnavailable,
)
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import LONG, Deadlines
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Lane, Watch
from windlass.storage.postgres import dialect
from windlass.storage.postgres.connect import connect, pooled_connection, transaction
from windlass.storage.postgres.fast_paths import FAST_PATHS
from windlass.storage.postgres.faults import RAISED, error_for
from windlass.storage.postgres.pool import PostgresPool
from windlass.storage.postgres.row_security import RowSecurity, check_version, lacking, statements
from windlass.storage.postgres.watch import PostgresWatch, channel
from windlass.storage.sql.statements import Dialect, Rows, Scripts

#: Planning an enqueue takes longer than running it, so it is planned once per connection.
_PLANNED_ONCE = {
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
}
#: Statistics of queue tables are always outdated: for a claim the index is always right.
_PINNED = {
    **_PLANNED_ONCE,
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_sort": "off",
    "enable_material": "off",
}
#: Lists follow an index in their order: few rows, mostly cached, wherever they lie. The planner
#: would rather scan many rows, with several processes.
_LOOKING = {"jit": "off", "max_parallel_workers_per_gather": "0", "random_page_cost": "1.1"}
PLANS = {Lane.STORE: _PLANNED_ONCE, Lane.WORK: _PINNED, Lane.RENEW: _PINNED, Lane.GENERAL: _LOOKING}
_SIZES = {Lane.STORE: 4, Lane.WORK: 4, Lane.RENEW: 1, Lane.GENERAL: 8}
#: The server itself ends a statement that long after its deadline, and a transaction whose client
#: is idle: both may hold locks that others wait for.
_GRACE_SECONDS, _IDLE_IN_TRANSACTION_SECONDS = 2, 20
#: Errors after which the idle connections are dropped too.
_SUSPECT = {DatabaseTimeout, DatabaseReadOnly, DatabaseUnreachable, DatabaseNotReady}


class PostgresDatabase:
    kind = "postgresql"

    def __init__(
        self,
        address: Address,
        *,
        schema: str | None = None,
        listen_url: str | None = None,
        row_security: bool = False,
        now: str | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._address = address
        self._deadlines = deadlines or Deadlines()
        self._schema = schema
        self._listen = Address.parse(listen_url) if listen_url else address
        # A direct address beside the main one means that the main one is a pooler, which shares
        # sessions, with their settings and prepared statements, among clients.
        self._pooled = listen_url is not None
        if row_security and self._pooled:
            raise RowSecurityUnavailable(
                "what a connection says of its tenant would be another's behind a pooler"
            )
        self._wall = RowSecurity() if row_security else None
        self._now = now or dialect.NOW
        # COPY takes its instants from the server's own clock, and applies no policies.
        self._copies = now is None and not row_security
        self._scripts = Scripts(dialect.driver_dialect(self._now), schema)
        self._pools: dict[Lane, PostgresPool] = {}

    def check_exists(self) -> None:
        """Nothing: connecting never creates it."""

    @retry_deadlocks
    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        (_,) = self._scripts[verb]  # several statements would need a transaction
        async with self._connection(lane, self._deadlines.verb(lane, verb, params)) as connection:
            return await self._session(connection, lane).run(verb, **params)

    @asynccontextmanager
    async def transaction(self, lane: Lane = Lane.GENERAL) -> AsyncIterator["PostgresSession"]:
        async with self._connection(lane) as connection, transaction(connection):
            yield self._session(connection, lane)

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        (statement,) = self._scripts.prepare(text)
        async with self._connection(Lane.GENERAL, LONG) as connection:
            return await connection.fetch(  # type: ignore[no-any-return]  # asyncpg: list[Record], a Mapping
                statement.text,
                *[self._scripts.dialect.value(params[name]) for name in statement.names],
                timeout=LONG,
            )

    async def script(self, text: str) -> None:
        async with self._connection(Lane.GENERAL, LONG) as connection, transaction(connection):
            if self._schema:
                await connection.execute(f'create schema if not exists "{self._schema}"')
                await connection.execute(f'set local search_path to "{self._schema}"')
            await connection.execute(text, timeout=LONG)

    @asynccontextmanager
    async def migration_lock(self) -> AsyncIterator[None]:
        async with self._connection(Lane.GENERAL, LONG) as connection, transaction(connection):
            await connection.execute("set local idle_in_transaction_session_timeout = 0")
            await connection.execute(
                "select pg_advisory_xact_lock(hashtext($1))",
                f"windlass {self._schema or ''}",
                timeout=LONG,
            )
            yield

    def caller_dialect(self, placeholder: str) -> Dialect:
        return dialect.caller_dialect(placeholder, self._now)

    @property
    def schema(self) -> str | None:
        return self._schema

    async def nudge(self, queues: Sequence[str]) -> None:
        async with self._connection(Lane.GENERAL) as connection:
            await connection.execute(
                "select pg_notify($1, q) from unnest($2::text[]) q",
                channel(self._schema),
                [queue[:191] for queue in queues],
            )

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        return PostgresWatch(self._listen, channel(self._schema), queues)

    async def stopped_writers(self) -> Sequence[str]:
        return []

    async def readable_files(self) -> Sequence[str]:
        return []

    async def warnings(self) -> Sequence[str]:
        async with self._connection(Lane.GENERAL) as connection:
            settings = {
                name: await connection.fetchval("select current_setting($1)", name)
                for name in ("fsync", "synchronous_commit", "full_page_writes")
            }
            unwalled = await lacking(connection, self._schema, wanted=self._wall is not None)
        return [*_not_durable(settings), *unwalled]

    async def read_only(self) -> str:
        async with self._connection(Lane.GENERAL) as connection:
            row = await connection.fetchrow(
                "select pg_is_in_recovery() as replica, "
                "current_setting('transaction_read_only') = 'on' as refuses"
            )
        if row["replica"]:
            return "it is a replica"
        return "its transactions are read-only by default" if row["refuses"] else ""

    async def secure(self, *, role: str | None = None, off: bool = False) -> None:
        """Install the policies of row security, or remove them with `off`. Safe to repeat."""
        if not off:
            async with self._connection(Lane.GENERAL) as connection:
                version = await connection.fetchval("select current_setting('server_version_num')")
            check_version(int(version))
        await self.script(self.policies(role=role, off=off))

    def policies(self, *, role: str | None = None, off: bool = False) -> str:
        """The SQL that `secure` runs."""
        return statements(role=role, off=off)

    async def close(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        await asyncio.gather(*(pool.close() for pool in pools))

    def _session(self, connection: Any, lane: Lane) -> "PostgresSession":
        return PostgresSession(
            connection,
            self._scripts,
            schema=self._schema,
            copies=self._copies,
            lane=lane,
            deadlines=self._deadlines,
        )

    @asynccontextmanager
    async def _connection(self, lane: Lane, seconds: float | None = None) -> AsyncIterator[Any]:
        deadlines = self._deadlines
        place, usual = deadlines.place(lane), deadlines.usual(lane)
        try:
            async with self._pool(lane).checkout(place=place, connect=usual) as connection:
                if self._wall:
                    await self._wall.bind(connection)
                yield connection
        except RAISED as error:
            translated = error_for(error, self._address, seconds=seconds or usual)
            if type(translated) in _SUSPECT:
                self._drop_idle()
            if translated is error:
                raise
            raise translated from error
        except DatabaseUnreachable:
            self._drop_idle()
            raise

    def _drop_idle(self) -> None:
        """Drop idle connections after one has failed: on a silent link each would cost a deadline,
        and a server that became read-only may no longer be the primary."""
        for pool in self._pools.values():
            pool.drop_idle()

    def _pool(self, lane: Lane) -> PostgresPool:
        if lane not in self._pools:
            self._pools[lane] = PostgresPool(partial(self._connect, lane), _SIZES[lane])
        return self._pools[lane]

    async def _connect(self, lane: Lane) -> Any:
        usual = self._deadlines.usual(lane)
        own = lane in (Lane.WORK, Lane.RENEW)
        settings = {
            **PLANS[lane],
            "idle_in_transaction_session_timeout": f"{_IDLE_IN_TRANSACTION_SECONDS}s",
            **({"statement_timeout": f"{usual + _GRACE_SECONDS:.0f}s"} if own else {}),
        }
        return await connect(
            self._address,
            command_timeout=usual,
            statement_cache_size=0 if self._pooled else 200,
            max_cached_statement_lifetime=0,
            **({"connection_class": _pooled_connection()} if self._pooled else {}),
            server_settings={
                "application_name": f"windlass {lane.value}",
                **({} if self._pooled else settings),
            },
        )


def _pooled_connection() -> type[Any]:
    return pooled_connection(idle_seconds=_IDLE_IN_TRANSACTION_SECONDS)


def _not_durable(settings: Mapping[str, str]) -> list[str]:
    return [
        f"PostgreSQL runs with {name} = off: acknowledged jobs can be lost in a crash"
        for name, value in settings.items()
        if value == "off"
    ]


class PostgresSession:
    """Runs verbs on one connection, in its open transaction if it has one."""

    def __init__(
        self,
        connection: Any,
        scripts: Scripts,
        *,
        schema: str | None,
        copies: bool,
        lane: Lane,
        deadlines: Deadlines,
    ) -> None:
        self.connection = connection
        self.schema = schema
        self.copies = copies
        self._scripts = scripts
        self._lane = lane
        self._deadlines = deadlines

    async def run(self, verb: str, /, **params: Any) -> Rows:
        if fast_path := FAST_PATHS.get(verb):
            result = await fast_path(self, params)
            if result is not None:
                return result
        return await self.run_file(verb, **params)

    async def run_file(self, name: str, /, **params: Any) -> Rows:
        """Run the statements of an SQL file and return its rows."""
        bound = self._scripts.bind(params)
        seconds = self._deadlines.verb(self._lane, name, params)
        result: Rows = []
        for statement in self._scripts[name]:
            args = [bound[each] for each in statement.names]
            found = await self.connection.fetch(statement.text, *args, timeout=seconds)
            result = found if statement.answers else result
        return result
