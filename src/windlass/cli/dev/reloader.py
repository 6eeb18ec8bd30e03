"""Supervisor of `windlass dev`: runs work in a child process and restarts it when a file is saved.

The new child starts beside the old one. The old one is stopped only when the new one is ready, so
running jobs finish in their process, and code that cannot be imported replaces nothing.
"""

import contextlib
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

from windlass.cli.dev.dev_keys import Keys
from windlass.cli.dev.file_watch import FileWatcher
from windlass.cli.dev.terminal import Terminal, TerminalOutput
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.run.signals import stop_signals
from windlass.cli.text.printing import write_lines

_POLL_SECONDS = 0.25
#: Shorter poll while another program has the terminal, to notice its end soon.
_SOON_SECONDS = 0.05
#: Wait after a change: editors write a file in steps.
_SETTLE_SECONDS = 0.1
#: Pause between restarts: a child that dies at once must not loop at full speed.
_RESTART_SECONDS = 1.0

_WAITING = "Waiting for the next save."
#: Begins the order that tells the running code why the code saved last could not be imported.
IMPORT_FAILED = "import-failed "

#: `waiting`: the code cannot be imported, and the process serves the error until the next save.
State = Literal["starting", "ready", "failed", "waiting"]


class SupervisorLink:
    """The child's end of the socket to its supervisor. `alone`: no earlier code runs meanwhile."""

    def __init__(
        self, line: socket.socket, output: TerminalOutput | None, *, alone: bool = True
    ) -> None:
        self.alone = alone
        self._line = line
        self._output = output
        self._buffer = b""

    def report(self, state: State, files: Iterable[str], **facts: str) -> None:
        """Report the child's state, the files it depends on, and other facts."""
        message = {"state": state, "files": sorted(files), "facts": facts}
        self._line.sendall(json.dumps(message).encode() + b"\n")

    def fileno(self) -> int:
        """The socket's descriptor: readable when there is an order, or when the supervisor is
        gone."""
        return self._line.fileno()

    def orders(self) -> list[str] | None:
        """Return the supervisor's next orders; None when it is gone. `hush` and `speak` are carried
        out here."""
        data = self._line.recv(4096)
        if not data:
            return None
        *complete, self._buffer = (self._buffer + data).split(b"\n")
        orders = []
        for order in (line.decode() for line in complete):
            if order == "hush" and self._output:
                self._output.hush()
            elif order == "speak" and self._output:
                self._output.speak()
            else:
                orders.append(order)
        return orders


@dataclass(slots=True, eq=False)
class ChildProcess:
    """A child process, as its supervisor sees it."""

    pid: int
    line: socket.socket
    began_ns: int
    state: State = "starting"
    buffer: bytes = b""
    closed: bool = False
    facts: dict[str, str] = field(default_factory=dict)

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def order(self, word: str) -> None:
        with contextlib.suppress(OSError):  # the child is gone, or has not read for long
            self.line.sendall(f"{word}\n".encode())


class Supervisor:
    """Runs `work` in a child process. `work` gets the link, and True if no child was ready before;
    it returns the child's exit code. Keys come from the terminal, if there is one."""

    def __init__(
        self,
        work: Callable[[SupervisorLink, bool], int],
        say: Callable[[str], None],
        terminal: Terminal | None = None,
    ) -> None:
        self._work = work
        self._say = say
        self._terminal = terminal
        self._files = FileWatcher()
        self._current: ChildProcess | None = None
        self._next: ChildProcess | None = None
        self._old: list[ChildProcess] = []
        self._signals = 0
        self.stopping = False
        self._was_ready = False
        self._waiting = False
        self._code = 0

    def run(self) -> int:
        """Supervise until stopped, or until the first child cannot work at all."""
        for number in stop_signals():
            signal.signal(number, self._on_signal)
        with self._terminal or contextlib.nullcontext():
            return self._run_with_keys(Keys(self, self._terminal) if self._terminal else None)

    @property
    def facts(self) -> dict[str, str] | None:
        """The last report of the running code; None while no code runs."""
        return self._current.facts if self._current and self._runs else None

    def stop(self) -> None:
        """Stop like a signal: children finish their jobs; a second call hands the jobs back."""
        self._signals += 1

    def order(self, word: str, *, all: bool = False) -> None:
        """Send an order to the child that runs the jobs, or to all children."""
        for child in self._children() if all else [self._current]:
            if child is not None:
                child.order(word)

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._say(text)

    def _run_with_keys(self, keys: Keys | None) -> int:
        if keys is not None:
            signal.signal(signal.SIGCONT, lambda *_: keys.resumed())
        self._start()
        while self._children() or self._waiting:
            self._read_reports(keys, seconds=_SOON_SECONDS if self._lent else _POLL_SECONDS)
            self._reap_children()
            if keys is not None:
                keys.handle_keys()
            self._handle_signals()
            if not self.stopping and (saved := self._files.saved()):
                self._reload(saved)
        return self._code

    @property
    def _runs(self) -> bool:
        """True while code runs that could be imported."""
        return self._current is not None and self._current.state == "ready"

    @property
    def _lent(self) -> bool:
        return self._terminal is not None and self._terminal.lent

    def _start(self) -> None:
        parent_end, child_end = socket.socketpair()
        began = time.time_ns()
        # Blocked: until the child has its own handlers, the supervisor's would swallow a stop.
        signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals())
        pid = os.fork()
        if pid == 0:
            code: int = Exit.FAILED
            try:
                parent_end.close()
                self._forget_children()
                signal.pthread_sigmask(signal.SIG_UNBLOCK, stop_signals())
                # Its own session: only the supervisor gets Ctrl-C, and forwards it once.
                os.setsid()
                output = self._terminal.output if self._terminal else None
                link = SupervisorLink(child_end, output, alone=not self._runs)
                code = self._work(link, not self._was_ready)
            except BaseException:  # noqa: BLE001  the parent's frames are not this process's
                with contextlib.suppress(OSError):
                    write_lines(traceback.format_exc().rstrip().split("\n"), sys.stderr)
            finally:
                try:
                    sys.stdout.flush()
                finally:
                    os._exit(code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stop_signals())
        child_end.close()
        parent_end.setblocking(False)
        self._next = ChildProcess(pid, parent_end, began)

    def _forget_children(self) -> None:
        for child in self._children():
            child.line.close()
        for number in (*stop_signals(), signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)

    def _children(self) -> list[ChildProcess]:
        return [child for child in (self._current, self._next, *self._old) if child]

    def _read_reports(self, keys: Keys | None = None, *, seconds: float = _POLL_SECONDS) -> None:
        # A closed socket is always readable, without data.
        lines = {child.line: child for child in self._children() if not child.closed}
        watched: list[socket.socket | Keys] = [*lines]
        if keys is not None and keys.listens():
            watched.append(keys)
        for line in select.select(watched, [], [], seconds)[0]:
            if isinstance(line, Keys):
                continue  # handled after all reports are read
            child = lines[line]
            try:
                data = line.recv(65536)
            except BlockingIOError:
                continue
            except ConnectionError:
                data = b""
            child.closed = not data
            child.buffer += data
            *complete, child.buffer = child.buffer.split(b"\n")
            for message in complete:
                report = json.loads(message)
                self._files.watch(report["files"], since_ns=child.began_ns)
                child.state = report["state"]
                child.facts |= report["facts"]
                if child is self._next and child.state in ("ready", "waiting"):
                    self._take_over(child)

    def _take_over(self, child: ChildProcess) -> None:
        if self._current is not None:
            self._current.stop()
            self._old.append(self._current)
        self._current, self._next = child, None
        if child.state == "waiting":
            self.say(f"{_WAITING} No job runs meanwhile.")
        else:
            self._was_ready = True

    def _reap_children(self) -> None:
        for child in self._children():
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid == 0:
                continue
            self._read_reports(seconds=0)  # read its last reports
            child.line.close()
            self._on_child_exit(child, os.waitstatus_to_exitcode(status))

    def _on_child_exit(self, child: ChildProcess, code: int) -> None:
        if child in self._old:
            self._old.remove(child)
        elif child is self._next:
            self._next = None
            if self.stopping:
                return
            if child.state == "failed":
                on = "The previous code keeps running." if self._runs else "No job runs meanwhile."
                self.say(f"{_WAITING} {on}")
                if self._current:
                    self._current.order(f"{IMPORT_FAILED}{child.facts.get('error', 'null')}")
                self._waiting = self._current is None
            elif code < 0:
                self.say(f"The process ended ({_exit_text(code)}) before it was ready.")
                self._code = Exit.FAILED
            elif self._current is None:
                self._code = code  # the child has reported why
        elif child is self._current:
            self._current = None
            if self.stopping:
                # A closing terminal stops it twice. Once ready it catches that until its work has
                # ended; a second signal that comes between then and its exit ends it no worse.
                self._code = 0 if code == -signal.SIGTERM else code
            elif self._next is None:
                self.say(f"The process ended ({_exit_text(code)}); starting it again.")
                time.sleep(_RESTART_SECONDS)
                self._start()

    def _reload(self, saved: list[str]) -> None:
        time.sleep(_SETTLE_SECONDS)
        names = {os.path.basename(name) for name in (*saved, *self._files.saved())}
        self.say(f"Reloading: {', '.join(sorted(names))} saved.")
        if self._next is not None:
            self._next.stop()
            self._old.append(self._next)
        self._waiting = False
        self._start()

    def _handle_signals(self) -> None:
        while self._signals:
            self._signals -= 1
            if not self.stopping:
                self.say("Stopping.")
            self.stopping, self._waiting = True, False
            for child in self._children():
                child.stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._lent and number == signal.SIGINT:
            return  # Ctrl-C is for the program that has the terminal
        if self._terminal and number == signal.SIGHUP:
            self._terminal.hang_up()
        self.stop()


def _exit_text(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
