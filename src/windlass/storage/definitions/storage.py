"""Storage verbs on definitions."""

from windlass.storage.database import Database
from windlass.storage.definitions.definitions import DefinitionVerbs


class DefinitionStorage(DefinitionVerbs):
    def __init__(self, database: Database) -> None:
        self._db = database
