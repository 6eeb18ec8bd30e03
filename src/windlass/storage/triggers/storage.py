"""Storage verbs on triggers and events."""

from windlass.storage.database import Database
from windlass.storage.triggers.triggers import TriggerVerbs


class TriggerStorage(TriggerVerbs):
    def __init__(self, database: Database) -> None:
        self._db = database
