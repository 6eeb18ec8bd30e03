"""PostgreSQL connections that outlive their storage: the storage of the next test takes them over.

A new connection starts a process that reads the catalog and plans each statement anew. That costs
ten times what the statements of a test do.
"""

import select
from typing import Any

from tests.databases.supply import PostgresSupply
from windlass.storage.database import Lane
from windlass.storage.postgres.database import _SIZES, PostgresDatabase
from windlass.storage.postgres.pool import PostgresPool
from windlass.storage.storage import Storage

Pools = dict[Lane, PostgresPool]


class WarmPools:
    """The pools of closed storages that were opened on one event loop with equal options.

    A pool is kept at rest only, with nothing lent, so that no test sees the work of another.
    """

    def __init__(self) -> None:
        self._kept: dict[str, list[Pools]] = {}

    def lend(self, storage: Storage, url: str) -> None:
        """Give a new storage the pools of an earlier one on the same database."""
        if isinstance(storage.database, PostgresDatabase) and (kept := self._kept.get(url)):
            storage.database._pools = kept.pop()

    async def close(self, storage: Storage, url: str) -> None:
        """Close a storage, except for those of its pools that are at rest."""
        if isinstance(storage.database, PostgresDatabase):
            pools = storage.database._pools
            kept = {lane: pool for lane, pool in pools.items() if _is_at_rest(lane, pool)}
            storage.database._pools = {lane: pools[lane] for lane in pools.keys() - kept.keys()}
            self._kept.setdefault(url, []).append(kept)
        await storage.close()

    async def close_all(self) -> None:
        """End the sessions of all pools."""
        for pool in self._pools():
            await pool.close()
        self._kept.clear()

    def spare(self, supply: PostgresSupply) -> None:
        """Have the next wipe leave the sessions of these pools alone."""
        supply.spared = {
            connection.get_server_pid() for pool in self._pools() for connection, _ in pool._idle
        }

    def _pools(self) -> list[PostgresPool]:
        return [pool for each in self._kept.values() for pools in each for pool in pools.values()]


def _is_at_rest(lane: Lane, pool: PostgresPool) -> bool:
    """Check that nobody uses a pool, and drop the connections that the server has ended."""
    for each in list(pool._idle):
        if not _is_open(each[0]):
            pool._idle.remove(each)
            each[0].terminate()
    lent = _SIZES[lane] - pool._room._value
    return not (pool._closed or pool._making or lent)


def _is_open(connection: Any) -> bool:
    if connection.is_closed() or connection.is_in_transaction():
        return False
    # An idle connection is readable only if the server has ended it.
    poll = select.poll()
    poll.register(connection._transport.get_extra_info("socket").fileno(), select.POLLIN)
    return not poll.poll(0)
