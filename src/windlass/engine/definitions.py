"""Definitions: what may run. Code declares them, rows make them known to everybody."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from windlass import clock
from windlass.core.models import Definition
from windlass.engine.nudges import Nudges
from windlass.errors import DefinitionNotFound
from windlass.ids import JobId
from windlass.storage.base import Storage
from windlass.storage.database import Session
from windlass.storage.registry import sync_definitions
from windlass.storage.rows import definition

_FRESH_SECONDS = 5.0
_FIRST = JobId(UUID(int=0))


class Definitions:
    def __init__(self, storage: Storage, nudges: Nudges) -> None:
        self._storage = storage
        self._nudges = nudges
        self._declared: dict[str, Definition] = {}
        self._unsynced: set[str] = set()
        self._ungated = False
        self._rows: dict[str, Definition] = {}
        self._read_at: float | None = None
        self._syncing = asyncio.Lock()

    def declare(self, definition: Definition) -> None:
        """Note a definition in code; its row follows at the next sync."""
        self._declared[definition.key] = definition
        self._unsynced.add(definition.key)

    async def sync(self) -> set[str]:
        """Make rows follow what was declared since the last sync; answers the keys changed."""
        async with self._syncing:
            keys = sorted(self._unsynced)
            if not keys:
                return set()
            # Looked at first: nothing is written, nor waited for, when code and rows agree.
            stale = self._stale(await self._fresh(0))
            changed = await self._storage.sync_definitions(stale) if stale else set()
            self._unsynced.difference_update(keys)
            self._read_at = None if changed else self._read_at
        if changed or self._ungated:
            self._ungated = False
            await self.regate()
        return changed

    async def in_step(self) -> bool:
        """Whether rows agree with what was declared, so that a sync has nothing to write."""
        return not self._unsynced or not self._stale(await self._fresh(0))

    async def sync_in(self, session: Session) -> None:
        """Make rows follow through a caller's transaction; a later sync sees to the rest, whether
        it commits or not. Awaits nothing but the session."""
        rows = {row["key"]: definition(row) for row in await session.run("definitions")}
        if stale := self._stale(rows):
            await sync_definitions(session, stale)
            self._ungated = True

    def _stale(self, rows: Mapping[str, Definition]) -> list[Definition]:
        declared = [self._declared[key] for key in sorted(self._unsynced)]
        hashes = {key: row.code_hash for key, row in rows.items()}
        return [each for each in declared if each.code_hash != hashes.get(each.key)]

    async def get(self, key: str) -> Definition:
        """The row of a definition, at most some seconds old."""
        known = await self._fresh()
        if key not in known:
            known = await self._fresh(0)
        if key not in known:
            raise DefinitionNotFound(key, known=sorted(known))
        return known[key]

    async def list(self) -> Sequence[Definition]:
        """All definitions, by key."""
        return list((await self._fresh(0)).values())

    async def enable(self, key: str) -> None:
        """Let a definition run again; its waiting jobs go on."""
        await self._switch(key, True)

    async def disable(self, key: str) -> None:
        """Refuse new jobs of a definition and let its queued ones wait."""
        await self._switch(key, False)

    async def regate(self) -> None:
        """Move queued jobs behind the gates their definitions have now.

        Looks at every job that waits, so only while a gate's change is fresh.
        """
        cursor: JobId | None = _FIRST if await self._storage.gates_changed() else None
        while cursor is not None:
            cursor = await self._storage.regate(cursor)

    async def _switch(self, key: str, enabled: bool) -> None:
        if not await self._storage.set_enabled(key, enabled):
            raise DefinitionNotFound(key, known=sorted(await self._fresh(0)))
        self._read_at = None
        await self.regate()
        self._nudges.nudge_all()

    async def _fresh(self, seconds: float = _FRESH_SECONDS) -> dict[str, Definition]:
        if self._read_at is None or clock.monotonic() - self._read_at >= seconds:
            rows = await self._storage.definitions()
            self._rows = {definition.key: definition for definition in rows}
            self._read_at = clock.monotonic()
        return self._rows
