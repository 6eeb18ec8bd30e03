"""Storage verbs on jobs: enqueue, read, change, lists, dead letter, bulk operations."""

from windlass.storage.database import Database
from windlass.storage.jobs.dead import DeadVerbs
from windlass.storage.jobs.encryption import EncryptionVerbs
from windlass.storage.jobs.enqueue import EnqueueVerbs
from windlass.storage.jobs.jobs import JobVerbs
from windlass.storage.jobs.lists import ListVerbs
from windlass.storage.jobs.mutes import MuteVerbs
from windlass.storage.jobs.operations import OperationVerbs


class JobStorage(
    DeadVerbs, EncryptionVerbs, EnqueueVerbs, JobVerbs, ListVerbs, MuteVerbs, OperationVerbs
):
    def __init__(self, database: Database) -> None:
        self._db = database
