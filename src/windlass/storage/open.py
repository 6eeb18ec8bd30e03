"""Database URL -> Storage."""

import os
from dataclasses import replace
from datetime import timedelta
from functools import partial

from windlass.errors import RowSecurityUnavailable, UnsupportedDatabase
from windlass.storage.address import Address
from windlass.storage.base import Storage
from windlass.storage.deadlines import Deadlines


def open_storage(
    url: str,
    *,
    schema: str | None = None,
    listen_url: str | None = None,
    row_security: bool = False,
    now: str | None = None,
    lease_time: timedelta | None = None,
) -> Storage:
    """The storage behind a URL. Nothing connects before the first verb.

    `lease_time` is how long the leases last that are renewed through it: a renewal that hangs is
    given up in time for another one. `now` replaces the SQL expression that tells the time, so that
    tests can own the clock.
    """
    address = Address.parse(url)
    if row_security and address.kind != "postgresql":
        raise RowSecurityUnavailable("only PostgreSQL has it")
    if address.kind == "sqlite" and not address.in_memory:
        # The same file when it is opened anew, wherever the program has gone meanwhile.
        address = replace(address, name=os.path.realpath(address.name))
    open_anew = partial(_open, address, schema, listen_url, row_security, now)
    storage = open_anew(lease_time)
    if not address.in_memory:
        storage.open_anew = open_anew
    return storage


def _open(
    address: Address,
    schema: str | None,
    listen_url: str | None,
    row_security: bool,
    now: str | None,
    lease_time: timedelta | None,
) -> Storage:
    deadlines = Deadlines.following(lease_time)
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
                    deadlines=deadlines,
                )
            )
        case "mysql":
            try:
                from windlass.storage.mysql.storage import open_mysql
            except ModuleNotFoundError as error:
                raise UnsupportedDatabase("mysql", missing="PyMySQL", extra="mysql") from error
            return open_mysql(address, now=now, deadlines=deadlines)
        case _:
            from windlass.storage.sqlite.storage import open_sqlite

            return open_sqlite(address, now=now, deadlines=deadlines)
