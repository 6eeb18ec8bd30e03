"""Storage: every verb Windlass has on a database, and what each promises.

The verbs stand in one file per noun. What differs between databases is below the seam in
`database.py`: a driver, and SQL files of equal names.
"""

from windlass.storage.accounts import AccountVerbs
from windlass.storage.answers import AnswerVerbs
from windlass.storage.audit import AuditVerbs
from windlass.storage.credentials import CredentialVerbs
from windlass.storage.database import Database
from windlass.storage.dead import DeadVerbs
from windlass.storage.health import HealthVerbs
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
    LeaseVerbs,
    UpkeepVerbs,
    RegistryVerbs,
    TriggerVerbs,
    LiveVerbs,
    MetricVerbs,
    HealthVerbs,
    AccountVerbs,
    InvitationVerbs,
    CredentialVerbs,
    AuditVerbs,
    AnswerVerbs,
    OperationVerbs,
):
    """The one door to the queue. Correct with any number of processes behind it."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def database(self) -> Database:
        """The database below: for migrations, nudges and callers' own transactions."""
        return self._db

    async def close(self) -> None:
        await self._db.close()
