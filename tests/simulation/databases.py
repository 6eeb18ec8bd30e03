"""Databases for simulations, each empty."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from tests.simulation.simulation import World, furnish
from tests.simulation.sqlite_memory import MemoryDatabase
from tests.support.job_builders import START
from windlass.storage.connection.virtual_clock import NOW, VirtualClock
from windlass.storage.migrate import migrate
from windlass.storage.storage import Storage, open_storage


class MemoryWorlds:
    """SQLite in memory, copied from a template for each schedule."""

    def __init__(self) -> None:
        self.database = MemoryDatabase(START)
        self._template: sqlite3.Connection | None = None

    async def set_time(self, now: datetime) -> None:
        self.database.now = now

    @asynccontextmanager
    async def new(self) -> AsyncIterator[World]:
        self.database.now = START
        connection = self.database.connect()
        if self._template is None:
            await migrate(Storage(self.database))
            await furnish(self.database)
            self._template = sqlite3.connect(":memory:")
            connection.backup(self._template)
        else:
            self._template.backup(connection)
        yield self

    async def close(self) -> None:
        if self._template is not None:
            self._template.close()
        await self.database.close()


class ServerWorld:
    """An empty database on a server."""

    def __init__(self, storage: Storage) -> None:
        self.database = storage.database
        self.clock = VirtualClock(storage)

    async def set_time(self, now: datetime) -> None:
        await self.clock.set(now)


@asynccontextmanager
async def server_world(url: str) -> AsyncIterator[World]:
    """The world in a migrated database with nothing in it."""
    storage = open_storage(url, now=NOW)
    try:
        world = ServerWorld(storage)
        await world.clock.install(START)
        await furnish(storage.database)
        yield world
    finally:
        await storage.close()
