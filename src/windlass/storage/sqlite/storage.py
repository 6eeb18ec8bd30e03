"""Address -> Storage on SQLite."""

from windlass.storage.address import Address
from windlass.storage.base import Storage
from windlass.storage.deadlines import Deadlines
from windlass.storage.sqlite.database import SqliteDatabase


def open_sqlite(
    address: Address, *, now: str | None = None, deadlines: Deadlines | None = None
) -> Storage:
    """The storage in a file. Nothing is opened, or made, before the first verb."""
    return Storage(SqliteDatabase(address, now=now, deadlines=deadlines))
