"""Ledger outside the database: a file that processes append to, which survives all of them.

A line is one write to a file opened for appending, so that it is there whole or not at all. Times
are of the machine's monotonic clock, the same in all processes.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

from tests.support.wait import until

#: The variables that tell a process where the ledger is, and where files that let handlers end are.
LEDGER = "JOURNEY_LEDGER"
GATES = "JOURNEY_GATES"

Line = dict[str, Any]


def note(what: str, /, *, synced: bool = False, **about: object) -> None:
    """Write a line into the ledger of this process's journey; `synced` when the disk has it."""
    line = {"what": what, "at": time.monotonic(), "pid": os.getpid(), **about}
    file = os.open(os.environ[LEDGER], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, json.dumps(line, default=str).encode() + b"\n")
        if synced:
            os.fsync(file)
    finally:
        os.close(file)


class Ledger:
    """The judge's side: reads lines, and waits for them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        self._read_bytes = 0
        self._lines: list[Line] = []

    def lines(self, what: str | None = None, **about: object) -> list[Line]:
        """All lines of this kind that say so, oldest first."""
        self._read()
        return [line for line in self._lines if _matches(line, what, about)]

    async def moment(self, what: str, *, within: float = 60.0, **about: object) -> Line:
        """The first such line, waited for."""
        [line] = await self.moments(1, what, within=within, **about)
        return line

    async def moments(
        self, count: int, what: str, *, within: float = 60.0, **about: object
    ) -> list[Line]:
        """The first `count` such lines, waited for."""
        found: list[Line] = await until(
            lambda: lines[:count] if len(lines := self.lines(what, **about)) >= count else None,
            within=within,
            waiting_for=f"{count} × {what} {about}",
        )
        return found

    def _read(self) -> None:
        new, self._read_bytes = read_lines(self.path, self._read_bytes)
        self._lines += new


def read_lines(path: Path, start: int = 0) -> tuple[list[Line], int]:
    """The lines of a ledger from byte `start` on, and where the next ones begin."""
    with path.open("rb") as file:
        file.seek(start)
        new = file.read()
    new = new[: new.rfind(b"\n") + 1]  # a line may be half written yet
    return [json.loads(line) for line in new.splitlines()], start + len(new)


def _matches(line: Line, what: str | None, about: dict[str, object]) -> bool:
    if what is not None and line["what"] != what:
        return False
    return all(str(line.get(name)) == str(value) for name, value in about.items())
