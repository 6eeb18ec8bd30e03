"""A Django database as a wire, given by its alias or its connection."""

import sys
from typing import Any

from windlass.errors import TransactionUnsupported
from windlass.storage.callers.wire import Style, Values, named, outside
from windlass.storage.sql.statements import Rows


class DjangoWire:
    """Runs statements through Django's cursor, so that its log and its errors are as usual."""

    name = "Django database"
    blocking = True

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def style(self) -> Style:
        # Django's vendor names are ours, and its cursors take one placeholder on all databases.
        return Style(self._connection.vendor, "%s")

    async def begin(self) -> None:
        if not self._connection.in_atomic_block:
            raise outside(self.name, "use it inside `transaction.atomic()`")

    async def execute(self, text: str, values: Values = ()) -> Rows:
        with self._connection.cursor() as cursor:
            cursor.execute(text, values)
            return named(cursor.description, cursor.fetchall()) if cursor.description else []


def by_alias(alias: str) -> DjangoWire:
    """The wire of the calling thread's connection to a database of Django's settings."""
    # A caller inside atomic() has loaded it; Windlass does not depend on it.
    django = sys.modules.get("django.db")
    if django is None:
        raise TransactionUnsupported(
            "text", problem="It would be the alias of a Django database, but Django is not loaded."
        )
    return DjangoWire(django.connections[alias])


#: The wire of each kind of object, by the name of its class.
KINDS = {"django.BaseDatabaseWrapper": DjangoWire, "django.ConnectionProxy": DjangoWire}
