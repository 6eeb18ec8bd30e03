"""Detects saved files by their modification time."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class FileWatcher:
    """Detects files that were saved."""

    known: dict[str, int] = field(default_factory=dict)

    def watch(self, files: Iterable[str], *, since_ns: int) -> None:
        """Watch these files from now on. A file saved after `since_ns` counts as saved already."""
        for name in files:
            stamp = _saved_at(name)
            if name not in self.known and stamp is not None:
                saved_since = since_ns < stamp <= time.time_ns()
                self.known[name] = 0 if saved_since else stamp

    def saved(self) -> list[str]:
        """Files saved since the last call. A missing file is still watched: it may come back."""
        found = []
        for name, known in self.known.items():
            stamp = _saved_at(name)
            if stamp is not None and stamp != known:
                self.known[name] = stamp
                found.append(name)
        return found


def _saved_at(name: str) -> int | None:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:
        return None
