"""Storage: every verb Windlass has on a database, and what each promises.

The verbs stand in one file per noun. What differs between databases is below the seam in
`database.py`: a driver, and SQL files of equal names.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from windlass.errors import RowSecurityUnavailable, UnsupportedDatabase
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.database import Database
from windlass.storage.sql import rows

if TYPE_CHECKING:
    from windlass.storage.access.storage import AccessStorage
    from windlass.storage.definitions.storage import DefinitionStorage
    from windlass.storage.jobs.storage import JobStorage
    from windlass.storage.leases.storage import LeaseStorage
    from windlass.storage.monitoring.storage import MonitoringStorage
    from windlass.storage.triggers.storage import TriggerStorage


class Storage:
    """The one door to the queue. Correct with any number of processes behind it."""

    #: Opens the same database anew; None where it exists only in this object's memory.
    open_anew: Callable[[timedelta], "Storage"] | None = None

    def __init__(self, database: Database) -> None:
        self._db = database

    @cached_property
    def jobs(self) -> "JobStorage":
        """Jobs: enqueue, read, change, lists, dead letter, bulk operations."""
        from windlass.storage.jobs.storage import JobStorage

        return JobStorage(self._db)

    @cached_property
    def leases(self) -> "LeaseStorage":
        """Leases, workers and queues."""
        from windlass.storage.leases.storage import LeaseStorage

        return LeaseStorage(self._db)

    @cached_property
    def definitions(self) -> "DefinitionStorage":
        """Definitions."""
        from windlass.storage.definitions.storage import DefinitionStorage

        return DefinitionStorage(self._db)

    @cached_property
    def triggers(self) -> "TriggerStorage":
        """Triggers and events."""
        from windlass.storage.triggers.storage import TriggerStorage

        return TriggerStorage(self._db)

    @cached_property
    def access(self) -> "AccessStorage":
        """Tenants, users, credentials, the audit and idempotency keys."""
        from windlass.storage.access.storage import AccessStorage

        return AccessStorage(self._db)

    @cached_property
    def monitoring(self) -> "MonitoringStorage":
        """Counts, metrics, health, alerts and retention."""
        from windlass.storage.monitoring.storage import MonitoringStorage

        return MonitoringStorage(self._db)

    @property
    def database(self) -> Database:
        """The database below: for migrations, nudges and callers' own transactions."""
        return self._db

    async def now(self) -> datetime:
        """The database's clock."""
        return rows.instant((await self._db.run("database_time"))[0]["now"])

    def reopen(self, *, lease_time: timedelta) -> "Storage":
        """The same database over connections of its own, for a thread with its own event loop.
        A database in memory has no second connection: it is shared, and not closed twice."""
        return self.open_anew(lease_time) if self.open_anew else SharedStorage(self._db)

    async def close(self) -> None:
        await self._db.close()


class SharedStorage(Storage):
    """A second storage on a database that belongs to another one."""

    async def close(self) -> None:
        """Nothing: the owner closes the database."""


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
                from windlass.storage.mysql.database import MysqlDatabase
            except ModuleNotFoundError as error:
                raise UnsupportedDatabase("mysql", missing="PyMySQL", extra="mysql") from error
            return Storage(MysqlDatabase(address, now=now, deadlines=deadlines))
        case _:
            from windlass.storage.sqlite.database import SqliteDatabase

            return Storage(SqliteDatabase(address, now=now, deadlines=deadlines))
