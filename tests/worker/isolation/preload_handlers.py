"""Handlers that show the state a run starts from; a fork server may import this module."""

import atexit
import ctypes
import mmap
import os
import subprocess
import tempfile
import time
from pathlib import Path

from windlass import Settings, Windlass

warm = Windlass("sqlite:///never-opened.db", settings=Settings())

#: The process that imported this module: for a run that was forked, not its own.
IMPORTED_BY = os.getpid()
FOLDER = tempfile.TemporaryDirectory()
_seen: list[str] = []


@warm.job("look", isolation="process")
def look(note: str) -> dict[str, object]:
    _seen.append(note)
    pids = [os.getpid(), os.getppid(), IMPORTED_BY]
    return {"seen": list(_seen), "pids": pids, "folder": Path(FOLDER.name).is_dir()}


@warm.job("variable", isolation="process")
def variable(name: str) -> str | None:
    return os.environ.get(name)


@warm.job("leave", isolation="process")
def leave(path: str) -> None:
    atexit.register(Path(path).write_text, "left")


@warm.job("hang", isolation="process", max_attempts=1)
def hang(path: str, how: str) -> None:
    _leave_pids(path, os.getpid())
    if how == "in C":
        # Holds Python's lock: not even a signal's handler can run.
        ctypes.PyDLL(None).pause()
        ctypes.PyDLL(None).sleep(600)
    while True:
        pass


@warm.job("family", isolation="process")
def family(path: str, then: str = "wait") -> None:
    """Starts a process in a session of its own."""
    apart = subprocess.Popen(["sleep", "300"], start_new_session=True)
    _leave_pids(path, os.getpid(), os.getppid(), apart.pid, IMPORTED_BY)
    if then == "kill the supervisor":
        os.kill(os.getppid(), 9)
    if then != "return":
        time.sleep(600)


def _leave_pids(path: str, *pids: int) -> None:
    Path(f"{path}.new").write_text(" ".join(map(str, pids)))
    Path(f"{path}.new").rename(path)


@warm.job("eat", isolation="process", memory_limit_mb=128)
def eat(mb: int, how: str = "bytes") -> int:
    if how == "pages":  # of a file, only read: they are nobody's memory
        with tempfile.TemporaryFile() as file:
            file.truncate(mb * 1024 * 1024)
            return len(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    if how == "bit by bit":
        return len([bytearray(1024 * 1024) for _ in range(mb)])
    eaten = len(bytearray(mb * 1024 * 1024))
    if how == "and crash":
        ctypes.string_at(0)
    return eaten // (1024 * 1024)
