"""PostgreSQL as a database: pools of connections, one per lane."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from windlass.errors import (
    DatabaseFull,
    DatabaseTimeout,
    DatabaseUnreachable,
    RowSecurityUnavailable,
    SchemaOutdated,
)
from windlass.storage.address import Address
from windlass.storage.again import Crossed, again
from windlass.storage.database import Lane, Watch
from windlass.storage.postgres import dialect
from windlass.storage.postgres.plain import are_many, copied, is_plain, shortest_way
from windlass.storage.postgres.pool import Pool
from windlass.storage.postgres.wall import Wall, check_version, lacking, statements
from windlass.storage.postgres.watch import PostgresWatch, channel
from windlass.storage.sql import Dialect, Rows, Scripts

#: To plan an enqueue takes longer than to run it, so its plan is made once per connection.
_PLANNED_ONCE = {
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
}
#: Queue tables have no honest statistics: what is right for a claim is always the index.
_PINNED = {
    **_PLANNED_ONCE,
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_sort": "off",
    "enable_material": "off",
}
#: Lists walk along an index that has their order: few rows, mostly cached, wherever they lie. The planner
#: would rather sweep over many, by several processes.
_LOOKING = {"jit": "off", "max_parallel_workers_per_gather": "0", "random_page_cost": "1.1"}
PLANS = {Lane.STORE: _PLANNED_ONCE, Lane.WORK: _PINNED, Lane.RENEW: _PINNED, Lane.GENERAL: _LOOKING}
_SIZES = {Lane.STORE: 4, Lane.WORK: 4, Lane.RENEW: 1, Lane.GENERAL: 8}
#: How long a call may take. A renewal that hangs leaves time for another one.
_DEADLINES = {Lane.STORE: 60.0, Lane.WORK: 60.0, Lane.RENEW: 10.0, Lane.GENERAL: 60.0}

_GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    # What the driver says of a connection that ended between two statements.
    asyncpg.InternalClientError,
    ConnectionError,
    OSError,
)
_CROSSED = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


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
    ) -> None:
        self._address = address
        self._schema = schema
        self._listen = Address.parse(listen_url) if listen_url else address
        # A direct address beside the main one means that the main one is a pooler, behind
        # which a session's settings and prepared statements belong to somebody else.
        self._pooled = listen_url is not None
        if row_security and self._pooled:
            raise RowSecurityUnavailable(
                "what a connection says of its tenant would be another's behind a pooler"
            )
        self._wall = Wall() if row_security else None
        self._now = now or dialect.NOW
        # What is copied in takes its instants from the server's own clock, and passes no policies.
        self._copies = now is None and not row_security
        self._scripts = Scripts(dialect.own(self._now), schema)
        self._pools: dict[Lane, Pool] = {}

    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        if verb == "enqueue" and is_plain(params["jobs"]):
            if self._copies and are_many(params["jobs"]):
                async with self.transaction(lane) as session:
                    return await session.run(verb, **params)
            verb, params = shortest_way(params["jobs"])
        (statement,) = self._scripts[verb]
        bound = self._scripts.bind(params)
        args = [bound[name] for name in statement.names]
        return await self._fetch(lane, statement.text, args)

    @again
    async def _fetch(self, lane: Lane, text: str, args: Sequence[Any]) -> Rows:
        async with self._connection(lane) as connection:
            return await connection.fetch(text, *args)  # type: ignore[no-any-return]  # asyncpg: list[Record], a Mapping

    @asynccontextmanager
    async def transaction(self, lane: Lane = Lane.GENERAL) -> AsyncIterator["PostgresSession"]:
        async with self._connection(lane) as connection, connection.transaction():
            yield PostgresSession(connection, self._scripts, self._schema, self._copies)

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        (statement,) = self._scripts.prepare(text)
        async with self._connection(Lane.GENERAL) as connection:
            return await connection.fetch(  # type: ignore[no-any-return]  # as above
                statement.text,
                *[self._scripts.dialect.value(params[name]) for name in statement.names],
            )

    async def script(self, text: str) -> None:
        async with self._connection(Lane.GENERAL) as connection, connection.transaction():
            if self._schema:
                await connection.execute(f'create schema if not exists "{self._schema}"')
                await connection.execute(f'set local search_path to "{self._schema}"')
            await connection.execute(text)

    @asynccontextmanager
    async def migration_lock(self) -> AsyncIterator[None]:
        async with self._connection(Lane.WORK) as connection, connection.transaction():
            await connection.execute(
                "select pg_advisory_xact_lock(hashtext($1))", f"windlass {self._schema or ''}"
            )
            yield

    def caller_dialect(self, placeholder: str) -> Dialect:
        return dialect.callers(placeholder, self._now)

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

    async def secure(self, *, role: str | None = None, off: bool = False) -> None:
        """Put the policies of row security in place, or take them away. Safe to repeat."""
        if not off:
            async with self._connection(Lane.GENERAL) as connection:
                version = await connection.fetchval("select current_setting('server_version_num')")
            check_version(int(version))
        await self.script(self.policies(role=role, off=off))

    def policies(self, *, role: str | None = None, off: bool = False) -> str:
        """The SQL of that."""
        return statements(role=role, off=off)

    async def close(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.close()

    @asynccontextmanager
    async def _connection(self, lane: Lane) -> AsyncIterator[Any]:
        try:
            async with self._pool(lane).loan(_DEADLINES[lane]) as connection:
                if self._wall:
                    await self._wall.bind(connection)
                yield connection
        except asyncpg.UndefinedTableError as error:
            raise SchemaOutdated(found=0, needed=1) from error
        except TimeoutError as error:
            raise DatabaseTimeout("answer a statement", seconds=_DEADLINES[lane]) from error
        except _CROSSED as error:
            raise Crossed("get past the locks of other transactions", seconds=1) from error
        except asyncpg.DiskFullError as error:
            raise DatabaseFull(self._address.url, cause=_said(error)) from error
        except _GONE as error:
            raise DatabaseUnreachable(self._address.url, cause=_said(error)) from error

    def _pool(self, lane: Lane) -> Pool:
        if lane not in self._pools:
            connect = partial(
                asyncpg.connect,
                self._address.url,
                command_timeout=_DEADLINES[lane],
                timeout=10,
                statement_cache_size=0 if self._pooled else 200,
                max_cached_statement_lifetime=0,
                server_settings={
                    "application_name": f"windlass {lane.value}",
                    **({} if self._pooled else PLANS[lane]),
                },
            )
            self._pools[lane] = Pool(connect, _SIZES[lane])
        return self._pools[lane]


def _not_durable(settings: Mapping[str, str]) -> list[str]:
    return [
        f"PostgreSQL runs with {name} = off: acknowledged jobs can be lost in a crash"
        for name, value in settings.items()
        if value == "off"
    ]


def _said(error: BaseException) -> str:
    """The first line of what a driver says; the rest may repeat the connection string."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__


class PostgresSession:
    """Verbs inside one open transaction."""

    def __init__(self, connection: Any, scripts: Scripts, schema: str | None, copies: bool) -> None:
        self.connection = connection
        self.schema = schema
        self._scripts = scripts
        self._copies = copies

    async def run(self, verb: str, /, **params: Any) -> Rows:
        if verb == "enqueue" and is_plain(params["jobs"]):
            copies = self._copies and are_many(params["jobs"])
            if copies and await copied(self, params["jobs"]):
                return []
            verb, params = shortest_way(params["jobs"])
        bound = self._scripts.bind(params)
        answer: Rows = []
        for statement in self._scripts[verb]:
            found = await self.connection.fetch(
                statement.text, *[bound[name] for name in statement.names]
            )
            answer = found if statement.answers else answer
        return answer
