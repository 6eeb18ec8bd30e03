"""Storage: every verb Windlass has on a database, and what each promises.

The verbs stand in one file per noun. What differs between databases is below the seam in
`database.py`: a driver, and SQL files of equal names.
"""

from collections.abc import Callable
from datetime import timedelta

from windlass.storage.accounts import AccountVerbs
from windlass.storage.alerts import AlertVerbs
from windlass.storage.answers import AnswerVerbs
from windlass.storage.audit import AuditVerbs
from windlass.storage.clocks import ClockVerbs
from windlass.storage.credentials import CredentialVerbs
from windlass.storage.database import Database
from windlass.storage.dead import DeadVerbs
from windlass.storage.health import HealthVerbs
from windlass.storage.installation import InstallationVerbs
from windlass.storage.integrity import IntegrityVerbs
from windlass.storage.invitations import InvitationVerbs
from windlass.storage.jobs import JobVerbs
from windlass.storage.leases import LeaseVerbs
from windlass.storage.listing import ListVerbs
from windlass.storage.live import LiveVerbs
from windlass.storage.metrics import MetricVerbs
from windlass.storage.mutes import MuteVerbs
from windlass.storage.operations import OperationVerbs
from windlass.storage.registry import RegistryVerbs
from windlass.storage.summaries import SummaryVerbs
from windlass.storage.triggers import TriggerVerbs
from windlass.storage.upkeep import UpkeepVerbs


class Storage(
    JobVerbs,
    ListVerbs,
    SummaryVerbs,
    DeadVerbs,
    MuteVerbs,
    AlertVerbs,
    LeaseVerbs,
    UpkeepVerbs,
    RegistryVerbs,
    TriggerVerbs,
    LiveVerbs,
    MetricVerbs,
    HealthVerbs,
    ClockVerbs,
    AccountVerbs,
    InvitationVerbs,
    CredentialVerbs,
    AuditVerbs,
    AnswerVerbs,
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
