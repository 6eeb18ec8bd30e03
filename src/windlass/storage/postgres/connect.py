"""Makes connections to PostgreSQL, and sees that none is left open."""

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
    """A connection by way of a pooler, where a session's settings are nobody's: each transaction says
    for itself how long the server waits in it for a client that says nothing."""

    begin = "BEGIN;"

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:
        # asyncpg begins a transaction by this word; a second statement would be a second round trip.
        text = self.begin if query == "BEGIN;" else query
        return str(await super().execute(text, *args, timeout=timeout))


def pooled_connection(*, idle_seconds: float) -> type[PooledConnection]:
    """The class of connections whose transactions end when their client is silent for so long."""
    setting = f"SET LOCAL idle_in_transaction_session_timeout = '{idle_seconds:g}s'"
    return type("PooledConnection", (PooledConnection,), {"begin": f"BEGIN; {setting};"})


async def connect(address: Address, **options: Any) -> Any:
    """A connection whose socket notices a dead link."""
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
    """A transaction that is committed, or rolled back when anything goes wrong. A connection that may
    be silent is ended instead: to say goodbye would take one more deadline."""
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
    """Close a connection in good order, or else at once."""
    with contextlib.suppress(Exception):
        await connection.close(timeout=within)
