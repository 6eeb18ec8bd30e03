"""Opens connections to PostgreSQL, and closes them reliably."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from windlass.errors import DatabaseUnreachable
from windlass.storage.connection import deadlines
from windlass.storage.connection.address import Address
from windlass.storage.connection.keepalive import keep_alive


class PooledConnection(asyncpg.Connection):
    """A connection through a pooler, where settings of a session do not last: each transaction sets
    its own timeout for an idle client."""

    begin = "BEGIN;"

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:
        # asyncpg begins a transaction with this word; a second statement would cost a round trip.
        text = self.begin if query == "BEGIN;" else query
        return str(await super().execute(text, *args, timeout=timeout))


def pooled_connection(*, idle_seconds: float) -> type[PooledConnection]:
    """The connection class whose transactions end when the client is idle for that long."""
    setting = f"SET LOCAL idle_in_transaction_session_timeout = '{idle_seconds:g}s'"
    return type("PooledConnection", (PooledConnection,), {"begin": f"BEGIN; {setting};"})


async def connect(address: Address, **options: Any) -> Any:
    """Open a connection whose socket notices a dead link."""
    try:
        connection: Any = await asyncpg.connect(address.url, timeout=deadlines.CONNECT, **options)
    except TimeoutError as error:
        cause = f"it did not answer within {deadlines.CONNECT:g} s"
        raise DatabaseUnreachable(address.url, cause=cause) from error
    if sock := connection._transport.get_extra_info("socket"):
        keep_alive(sock)
    return connection


@asynccontextmanager
async def transaction(connection: Any) -> AsyncIterator[None]:
    """A transaction that is committed, or rolled back on any error. After a timeout the connection
    is ended instead: on a silent link a rollback would take one more deadline."""
    open_one = connection.transaction()
    await open_one.start()
    try:
        yield
    except (asyncio.CancelledError, TimeoutError):
        connection.terminate()
        raise
    except BaseException:
        if not connection.is_closed():
            await open_one.rollback()
        raise
    await open_one.commit()


async def closed(connection: Any, *, within: float) -> None:
    """Close a connection gracefully `within` seconds, or else at once."""
    with contextlib.suppress(Exception):
        await connection.close(timeout=within)
