"""A clock that stands still until it is told to move, kept in the database itself.

Every statement reads the time through one expression; opened with `NOW`, a storage reads it from
a table of one row. Virtual time and the database's clock are then the same thing, in every process
that opens the same database so.
"""

from datetime import UTC, datetime, timedelta

from windlass.storage.storage import Storage

NOW = "(select at from windlass_clock)"

_TYPES = {"postgresql": "timestamptz", "mysql": "datetime(6)", "sqlite": "integer"}


class VirtualClock:
    """Sets and moves the time of one storage that was opened with `NOW`."""

    def __init__(self, storage: Storage) -> None:
        self._database = storage.database
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    async def install(self, at: datetime | None = None) -> None:
        """Make the clock's table and set it."""
        self.now = at or self.now
        type = _TYPES[self._database.kind]
        await self._database.script(
            f"create table if not exists windlass_clock (at {type} not null);\n"
            "delete from windlass_clock;\n"
            f"insert into windlass_clock (at) values ({self._literal()});\n"
        )

    async def set(self, at: datetime) -> None:
        """Make it `at`."""
        self.now = at.astimezone(UTC)
        await self._database.script(f"update windlass_clock set at = {self._literal()};\n")

    async def advance(self, by: timedelta) -> None:
        """Let time pass."""
        await self.set(self.now + by)

    def _literal(self) -> str:
        if self._database.kind == "sqlite":
            return str(round(self.now.timestamp() * 1_000_000))
        offset = "+00" if self._database.kind == "postgresql" else ""
        return f"'{self.now:%Y-%m-%d %H:%M:%S.%f}{offset}'"
