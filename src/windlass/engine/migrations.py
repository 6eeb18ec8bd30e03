"""The tables in a database: how far they are, how to bring them further, how to take that back."""

from collections.abc import Sequence

from windlass.errors import RowSecurityUnavailable
from windlass.storage import migrate
from windlass.storage.database import SupportsRowSecurity
from windlass.storage.migrate import Migration, SchemaStatus
from windlass.storage.storage import Storage


class Schema:
    """Needs no database that is ready: this is what makes one ready."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def status(self) -> SchemaStatus:
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

    async def secure(self, *, role: str | None = None, off: bool = False) -> None:
        """Put the policies of row security in place, and grant a role what the API needs; or take
        them away. PostgreSQL only, by the owner of the tables; again after each migration."""
        await self.check()
        await self._securing.secure(role=role, off=off)

    def policies(self, *, role: str | None = None, off: bool = False) -> str:
        """The SQL that `secure` would run."""
        return self._securing.policies(role=role, off=off)

    @property
    def _securing(self) -> SupportsRowSecurity:
        if not isinstance(self._storage.database, SupportsRowSecurity):
            raise RowSecurityUnavailable("only PostgreSQL has it")
        return self._storage.database


__all__ = ["Migration", "Schema", "SchemaStatus"]
