"""The tables in a database: how far they are, how to bring them further, how to take that back."""

from collections.abc import Sequence

from windlass.storage import migrate
from windlass.storage.base import Storage
from windlass.storage.migrate import Migration, Status


class Schema:
    """Needs no database that is ready: this is what makes one ready."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def status(self) -> Status:
        """What was applied and what is pending. Raises if the two do not fit this Windlass."""
        return await migrate.status(self._storage)

    async def check(self) -> None:
        """Refuse a database that is not migrated to what this Windlass needs."""
        await migrate.check(self._storage)

    async def migrate(self, *, to: int | None = None) -> Sequence[Migration]:
        """Apply what is pending, up to number `to`; answers what was applied."""
        return await migrate.migrate(self._storage, to=to)

    async def downgrade(self, *, to: int) -> Sequence[Migration]:
        """Take back migrations above number `to`, newest first. What they stored is lost."""
        return await migrate.downgrade(self._storage, to=to)


__all__ = ["Migration", "Schema", "Status"]
