"""Runs work in a child process and starts it anew when a file it imported is saved.

The new child is started beside the old one. Only when it is ready is the old one told to stop, so
that running jobs finish where they run, and code that cannot be imported replaces nothing.
"""

import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Literal

from windlass.cli.exits import Exit

_POLL_SECONDS = 0.25
#: Editors write a file in steps.
_SETTLE_SECONDS = 0.1
#: A child that dies at once, again and again, must not heat the room.
_RESTART_SECONDS = 1.0

State = Literal["starting", "ready", "failed"]


class Link:
    """The child's side of the line to its supervisor."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def tell(self, state: State, files: Iterable[str]) -> None:
        """Say how far the child is, and which files it depends on."""
        self._line.sendall(json.dumps({"state": state, "files": sorted(files)}).encode() + b"\n")

    def fileno(self) -> int:
        """Readable when the supervisor is gone: nothing else ever comes from it."""
        return self._line.fileno()


@dataclass(slots=True, eq=False)
class Child:
    """The supervisor's side."""

    pid: int
    line: socket.socket
    began_ns: int
    state: State = "starting"
    heard: bytes = b""

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGTERM)


@dataclass(slots=True)
class Files:
    """Notices files that were saved."""

    known: dict[str, int] = field(default_factory=dict)

    def watch(self, files: Iterable[str], *, since_ns: int) -> None:
        """Watch these from now on. One saved after `since_ns` counts as saved already."""
        for name in files:
            stamp = _saved_at(name)
            if name not in self.known and stamp is not None:
                late = since_ns < stamp <= time.time_ns()
                self.known[name] = 0 if late else stamp

    def saved(self) -> list[str]:
        """Those saved since they were last asked for. A file that is away may come back."""
        found = []
        for name, known in self.known.items():
            stamp = _saved_at(name)
            if stamp is not None and stamp != known:
                self.known[name] = stamp
                found.append(name)
        return found


class Supervisor:
    """`work` runs in the child; it gets the link, and whether none was ready before. What it
    returns is the child's exit code."""

    def __init__(self, work: Callable[[Link, bool], int], say: Callable[[str], None]) -> None:
        self._work = work
        self._say = say
        self._files = Files()
        self._current: Child | None = None
        self._coming: Child | None = None
        self._leaving: list[Child] = []
        self._signals = 0
        self._stopping = False
        self._was_ready = False
        self._code = 0

    def run(self) -> int:
        """Supervise until a signal comes, or the first child cannot work at all."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signaled)
        self._start()
        while self._children():
            self._hear()
            self._bury()
            self._mind_signals()
            if not self._stopping and (saved := self._files.saved()):
                self._reload(saved)
        return self._code

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        began = time.time_ns()
        pid = os.fork()
        if pid == 0:
            code: int = Exit.FAILED
            try:
                ours.close()
                self._forget_children()
                # Its own session: Ctrl-C comes to the supervisor alone, which passes it on once.
                os.setsid()
                code = self._work(Link(theirs), not self._was_ready)
            except BaseException:  # noqa: BLE001  the parent's frames are not this process's
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        theirs.close()
        ours.setblocking(False)
        self._coming = Child(pid, ours, began)

    def _forget_children(self) -> None:
        for child in self._children():
            child.line.close()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)

    def _children(self) -> list[Child]:
        return [child for child in (self._current, self._coming, *self._leaving) if child]

    def _hear(self) -> None:
        lines = {child.line: child for child in self._children()}
        for line in select.select(lines, [], [], _POLL_SECONDS)[0]:
            child = lines[line]
            try:
                child.heard += line.recv(65536)
            except (BlockingIOError, ConnectionError):
                continue
            *whole, child.heard = child.heard.split(b"\n")
            for message in whole:
                told = json.loads(message)
                self._files.watch(told["files"], since_ns=child.began_ns)
                child.state = told["state"]
                if child is self._coming and child.state == "ready":
                    self._take_over(child)

    def _take_over(self, child: Child) -> None:
        if self._current is not None:
            self._current.stop()
            self._leaving.append(self._current)
        self._current, self._coming = child, None
        self._was_ready = True

    def _bury(self) -> None:
        for child in self._children():
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid == 0:
                continue
            self._hear()  # its last words
            child.line.close()
            self._ended(child, os.waitstatus_to_exitcode(status))

    def _ended(self, child: Child, code: int) -> None:
        if child in self._leaving:
            self._leaving.remove(child)
        elif child is self._coming:
            self._coming = None
            if self._stopping:
                return
            if child.state == "failed":
                on = "The code from before goes on." if self._current else "No job runs meanwhile."
                self._say(f"Waiting for the next save. {on}")
                if self._current is None:
                    self._wait_for_save()
            elif code < 0:
                self._say(f"The process ended ({_how(code)}) before it was ready.")
                self._code = Exit.FAILED
            elif self._current is None:
                self._code = code  # it has told why
        elif child is self._current:
            self._current = None
            if self._stopping:
                self._code = code
            elif self._coming is None:
                self._say(f"The process ended ({_how(code)}); starting it again.")
                time.sleep(_RESTART_SECONDS)
                self._start()

    def _wait_for_save(self) -> None:
        while not self._signals:
            if saved := self._files.saved():
                self._reload(saved)
                return
            time.sleep(_POLL_SECONDS)

    def _reload(self, saved: list[str]) -> None:
        time.sleep(_SETTLE_SECONDS)
        names = {os.path.basename(name) for name in (*saved, *self._files.saved())}
        self._say(f"Reloading: {', '.join(sorted(names))} saved.")
        if self._coming is not None:
            self._coming.stop()
            self._leaving.append(self._coming)
        self._start()

    def _mind_signals(self) -> None:
        while self._signals:
            self._signals -= 1
            if not self._stopping:
                self._say("Stopping.")
            self._stopping = True
            for child in self._children():
                child.stop()

    def _signaled(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1


def _saved_at(name: str) -> int | None:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:
        return None


def _how(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
