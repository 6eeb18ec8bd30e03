"""Storage verbs on leases, workers and queues."""

from windlass.storage.database import Database
from windlass.storage.leases.clock_correction import ClockVerbs
from windlass.storage.leases.leases import LeaseVerbs
from windlass.storage.leases.queues import QueueVerbs
from windlass.storage.leases.upkeep import UpkeepVerbs
from windlass.storage.leases.workers import WorkerVerbs


class LeaseStorage(ClockVerbs, LeaseVerbs, QueueVerbs, UpkeepVerbs, WorkerVerbs):
    def __init__(self, database: Database) -> None:
        self._db = database
