"""Groups of ready jobs, installed in code or by the settings."""

import importlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from windlass.settings import Settings
from windlass.worker.handlers import Handler

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass

#: The library stands above this layer, as any application's group does: it is found by its name.
#: See decision 0034.
_LIBRARY = "windlass.library"


class JobGroup(Protocol):
    """Jobs that are installed together."""

    def handlers(self, app: "Windlass", source: object) -> Iterable[Handler]:
        """The handlers of its jobs. `source` is the database with the application's tables; None
        means the settings' choice."""
        ...


def groups_of(settings: Settings) -> Iterator[JobGroup]:
    """The groups that the settings install."""
    for name in dict.fromkeys(settings.library.groups):
        group: JobGroup = getattr(importlib.import_module(_LIBRARY), name)
        yield group
