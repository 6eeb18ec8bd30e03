"""Guard against work at import: a job's process imports its handler's module and opens no database.

The program that declares a handler may be a script. A child process imports it, and without a main
guard all that the script does would be done once more in each child.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from windlass.errors import MainGuardMissing


class _Imports:
    """The files and modules being imported by this process. There is one, as for all threads."""

    def __init__(self) -> None:
        self._names: list[str] = []

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Refuse connections for as long as this is imported."""
        self._names.append(name)
        try:
            yield
        finally:
            self._names.remove(name)

    def refuse(self) -> None:
        """Raise MainGuardMissing while anything is imported."""
        if self._names:
            raise MainGuardMissing(self._names[-1])


imports = _Imports()
