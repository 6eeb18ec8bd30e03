"""Installing: handlers of a group's jobs, and the database they work on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windlass.app.declare import HasKey, JobOptions, declare
from windlass.app.windlass import Windlass
from windlass.errors import (
    AddressRefused,
    DirectoryMissing,
    SettingMissing,
    SourceUnsupported,
    TableMissing,
)
from windlass.library.data.source import Source
from windlass.worker.handlers import Handler

#: Errors that no further attempt cures.
_PERMANENT = (AddressRefused, TableMissing, DirectoryMissing, SettingMissing, SourceUnsupported)


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Options that every group takes: the queue of its jobs, and the definition whose job reports a
    dead-lettered one (see the guide on the dead letter)."""

    queue: str = "default"
    on_dead_letter: str | HasKey | None = None

    def handler(
        self, app: Windlass, call: Callable[..., Any], key: str, options: JobOptions
    ) -> Handler:
        """The handler of one job of the group."""
        whole: JobOptions = {
            "queue": self.queue,
            "tags": ["library"],
            "permanent": _PERMANENT,
            **options,
        }
        if self.on_dead_letter is not None:
            whole["on_dead_letter"] = self.on_dead_letter
        return declare(call, key, whole, app.settings)


def source_of(app: Windlass, given: object) -> Source:
    """The database with the application's tables. What the settings say is read on use."""
    if given is not None:
        return Source.of(given)
    return Source(lambda: Source.of(app.settings.library.database_url or app.url).transaction())
