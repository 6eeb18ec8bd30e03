"""Import guard: no database is opened while a child process imports a handler's module.

The program that declares a handler may be a script. A child process imports it, and without a main
guard the whole script would run again in each child.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from windlass.errors import MainGuardMissing


class _Imports:
    """The files and modules that this process is importing; one object for all threads."""

    def __init__(self) -> None:
        self._names: list[str] = []

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Refuse connections while this is being imported."""
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
