"""Address -> Storage on SQLite."""

from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.sqlite.database import SqliteDatabase
from windlass.storage.storage import Storage


def open_sqlite(
    address: Address, *, now: str | None = None, deadlines: Deadlines | None = None
) -> Storage:
    """The storage in a file. Nothing is opened, or made, before the first verb."""
    return Storage(SqliteDatabase(address, now=now, deadlines=deadlines))
