"""The schema of a database: its version, migrations up and down, row security."""

from collections.abc import Sequence

from windlass.errors import RowSecurityUnavailable
from windlass.storage import migrate
from windlass.storage.database import SupportsRowSecurity
from windlass.storage.migrate import Migration, SchemaStatus
from windlass.storage.storage import Storage


class Schema:
    """Migrates the schema. Works before the schema exists."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def status(self) -> SchemaStatus:
        """The applied and pending migrations. Raises if they do not fit this version."""
        return await migrate.status(self._storage)

    async def check(self) -> None:
        """Refuse a database whose schema is not the one this version needs."""
        await migrate.check(self._storage)

    async def migrate(self, *, to: int | None = None) -> Sequence[Migration]:
        """Apply pending migrations, up to number `to`; returns those applied."""
        return await migrate.migrate(self._storage, to=to)

    async def downgrade(self, *, to: int) -> Sequence[Migration]:
        """Revert migrations above number `to`, newest first. Data in their tables is lost."""
        return await migrate.downgrade(self._storage, to=to)

    async def secure(self, *, role: str | None = None, off: bool = False) -> None:
        """Install the policies of row security and grant a role what the API needs, or remove the
        policies with `off`. PostgreSQL only, by the owner of the tables; again after migrations."""
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
