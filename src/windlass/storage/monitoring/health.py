"""Verbs on the health of the database. Each is cheap and works on every database; what a database
does not know is empty."""

from collections.abc import Mapping
from datetime import timedelta

from windlass.core.monitoring.database_checks import DeadRows, OldSnapshot
from windlass.storage.database import Database, Lane


class HealthVerbs:
    _db: Database

    async def database_settings(self) -> Mapping[str, str]:
        """Settings of the database that matter to a queue, as our connections have them."""
        pairs = [tuple(row.values()) for row in await self._db.run("database_settings")]
        return {str(name).lower(): str(value) for name, value in pairs}

    async def database_version(self) -> tuple[str, str]:
        """The kind of the database, and the version of its server or library."""
        found = await self.database_settings()
        return self._db.kind, found.get("server_version") or found["version"]

    async def server_process_ids(self) -> list[int | None]:
        """The ids of the server processes behind several of our open connections."""
        lanes = (Lane.GENERAL, Lane.STORE, Lane.WORK)
        found = [await self._db.run("server_process_id", lane=lane) for lane in lanes]
        return [None if row["number"] is None else int(row["number"]) for [row] in found]

    async def old_snapshots(self) -> list[OldSnapshot]:
        """The transactions that prevent the database from removing old rows, the oldest first."""
        return [
            OldSnapshot(
                row["kind"], row["name"], _length(row["seconds"]), int(row["transactions"] or 0)
            )
            for row in await self._db.run("old_snapshots")
        ]

    async def dead_tuples(self) -> list[DeadRows]:
        """Dead rows in the queue's tables, where the database counts them."""
        return [
            DeadRows(row["name"], int(row["live"]), int(row["dead"]), _length(row["seconds"]))
            for row in await self._db.run("dead_tuples")
        ]


def _length(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=float(seconds))
