"""Database URL -> Storage."""

from windlass.errors import RowSecurityUnavailable, UnsupportedDatabase
from windlass.storage.address import Address
from windlass.storage.base import Storage


def open_storage(
    url: str,
    *,
    schema: str | None = None,
    listen_url: str | None = None,
    row_security: bool = False,
    now: str | None = None,
) -> Storage:
    """The storage behind a URL. Nothing connects before the first verb.

    `now` replaces the SQL expression that tells the time, so that tests can own the clock.
    """
    address = Address.parse(url)
    if row_security and address.kind != "postgresql":
        raise RowSecurityUnavailable("only PostgreSQL has it")
    match address.kind:
        case "postgresql":
            from windlass.storage.postgres.database import PostgresDatabase

            return Storage(
                PostgresDatabase(
                    address,
                    schema=schema,
                    listen_url=listen_url,
                    row_security=row_security,
                    now=now,
                )
            )
        case "mysql":
            try:
                from windlass.storage.mysql.storage import open_mysql
            except ModuleNotFoundError as error:
                raise UnsupportedDatabase("mysql", missing="PyMySQL", extra="mysql") from error
            return open_mysql(address, now=now)
        case _:
            from windlass.storage.sqlite.storage import open_sqlite

            return open_sqlite(address, now=now)
