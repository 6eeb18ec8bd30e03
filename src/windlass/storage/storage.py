"""Storage: every verb Windlass has on a database, and what each promises.

The verbs stand in one file per noun. What differs between databases is below the seam in
`database.py`: a driver, and SQL files of equal names.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

from windlass.errors import RowSecurityUnavailable, UnsupportedDatabase
from windlass.storage.access.accounts import AccountVerbs
from windlass.storage.access.audit import AuditVerbs
from windlass.storage.access.credentials import CredentialVerbs
from windlass.storage.access.idempotency import IdempotencyVerbs
from windlass.storage.access.invitations import InvitationVerbs
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.database import Database
from windlass.storage.definitions.definitions import DefinitionVerbs
from windlass.storage.jobs.dead import DeadVerbs
from windlass.storage.jobs.jobs import JobVerbs
from windlass.storage.jobs.lists import ListVerbs
from windlass.storage.jobs.mutes import MuteVerbs
from windlass.storage.jobs.operations import OperationVerbs
from windlass.storage.leases.clock_correction import ClockVerbs
from windlass.storage.leases.leases import LeaseVerbs
from windlass.storage.leases.upkeep import UpkeepVerbs
from windlass.storage.monitoring.alerts import AlertVerbs
from windlass.storage.monitoring.health import HealthVerbs
from windlass.storage.monitoring.installation import InstallationVerbs
from windlass.storage.monitoring.integrity import IntegrityVerbs
from windlass.storage.monitoring.metrics import MetricVerbs
from windlass.storage.monitoring.stream_reads import StreamVerbs
from windlass.storage.monitoring.summaries import SummaryVerbs
from windlass.storage.triggers.triggers import TriggerVerbs


class Storage(
    JobVerbs,
    ListVerbs,
    SummaryVerbs,
    DeadVerbs,
    MuteVerbs,
    AlertVerbs,
    LeaseVerbs,
    UpkeepVerbs,
    DefinitionVerbs,
    TriggerVerbs,
    StreamVerbs,
    MetricVerbs,
    HealthVerbs,
    ClockVerbs,
    AccountVerbs,
    InvitationVerbs,
    CredentialVerbs,
    AuditVerbs,
    IdempotencyVerbs,
    OperationVerbs,
    InstallationVerbs,
    IntegrityVerbs,
):
    """The one door to the queue. Correct with any number of processes behind it."""

    #: Opens the same database anew; None where it exists only in this object's memory.
    open_anew: Callable[[timedelta], "Storage"] | None = None

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def database(self) -> Database:
        """The database below: for migrations, nudges and callers' own transactions."""
        return self._db

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
                from windlass.storage.mysql.storage import open_mysql
            except ModuleNotFoundError as error:
                raise UnsupportedDatabase("mysql", missing="PyMySQL", extra="mysql") from error
            return open_mysql(address, now=now, deadlines=deadlines)
        case _:
            from windlass.storage.sqlite.storage import open_sqlite

            return open_sqlite(address, now=now, deadlines=deadlines)
