"""Address -> Storage on MariaDB and MySQL."""

from windlass.storage.address import Address
from windlass.storage.base import Storage
from windlass.storage.mysql.database import MysqlDatabase


def open_mysql(address: Address, *, now: str | None = None) -> Storage:
    """The storage on a server. Nothing connects before the first verb."""
    return Storage(MysqlDatabase(address, now=now))
