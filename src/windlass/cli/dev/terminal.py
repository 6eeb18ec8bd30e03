"""The terminal of `windlass dev`: reads its keys, and lends it to another program.

Only the supervisor uses it. When the supervisor is in the background (`windlass dev &`, or Ctrl-Z
and `bg`), the terminal belongs to the shell, and is neither read nor changed.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windlass.cli.top.keys import keys_in

#: The kernel stops a background process that uses the terminal, unless these are blocked.
_STOPPING = (signal.SIGTTIN, signal.SIGTTOU)
_MOST_HELD = 1_000_000
_MOST_SHOWN = 64_000
_LEAVE_SECONDS = 3.0
_PLAIN_SCREEN = b"\x1b[?1049l\x1b[?25h"


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """Output of a process. `hush` redirects it to a file that is shown when the terminal is free
    again. Forked processes share the file."""

    out: int
    err: int
    held: int

    @classmethod
    def of_this_process(cls) -> "TerminalOutput":
        with tempfile.TemporaryFile("a+b") as file:
            return cls(os.dup(1), os.dup(2), os.dup(file.fileno()))

    def hush(self) -> None:
        self._to(self.held, self.held)

    def speak(self) -> None:
        self._to(self.out, self.err)

    def trim(self) -> None:
        """Truncate held-back output, so that it cannot fill the disk."""
        if os.fstat(self.held).st_size > _MOST_HELD:
            os.ftruncate(self.held, 0)

    def show_held(self) -> None:
        """Print the held-back output, or only its end if it is long."""
        size = os.fstat(self.held).st_size
        text = os.pread(self.held, _MOST_SHOWN, max(0, size - _MOST_SHOWN))
        os.ftruncate(self.held, 0)
        with contextlib.suppress(OSError):
            os.write(self.err, text)

    def _to(self, out: int, err: int) -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os.dup2(out, 1)
        os.dup2(err, 2)


@dataclass(slots=True)
class Terminal:
    """A context manager that restores the terminal's modes at exit."""

    number: int
    output: TerminalOutput = field(default_factory=TerminalOutput.of_this_process)
    closed: bool = False
    _before: list[Any] = field(default_factory=list)
    _ours: bool = False
    _borrower: "subprocess.Popen[bytes] | None" = None

    def __enter__(self) -> "Terminal":
        self._before = termios.tcgetattr(self.number)
        return self

    def __exit__(self, *_: object) -> None:
        if self._borrower is not None:
            self._end_borrower(self._borrower)
        self._give()

    @property
    def lent(self) -> bool:
        return self._borrower is not None

    def listens(self) -> bool:
        """True if this process gets the keys now. It takes the terminal when it can."""
        if self.closed or self.lent:
            return False
        in_front = self._in_front()
        if in_front and not self._ours:
            with _unstoppable(), contextlib.suppress(termios.error):
                tty.setcbreak(self.number, termios.TCSADRAIN)
        self._ours = in_front
        return in_front

    def resumed(self) -> None:
        """Note that this process was stopped for a while: a shell has changed the terminal's
        modes."""
        self._ours = False

    def pressed(self) -> list[str]:
        """Return the pressed keys, without waiting. Sets `closed` if the terminal is gone."""
        if not self.listens() or not select.select([self.number], [], [], 0)[0]:
            return []
        try:
            with _unstoppable():
                data = os.read(self.number, 1024)
        except OSError:
            data = b""
        # An empty read also happens just after a move to the background.
        if not data and self._in_front():
            self.hang_up()
        return list(keys_in(data.decode("utf-8", errors="ignore")))

    def hang_up(self) -> None:
        """Note that the terminal is gone: do not read from it or write to it any more."""
        self.closed = True
        self.output.hush()

    def lend(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        """Start a program that owns the terminal until it ends."""
        self._give()
        self._borrower = subprocess.Popen(command, env=dict(environ))
        self.output.hush()

    def is_back(self) -> bool:
        """True if the program that had the terminal has just ended. Called repeatedly."""
        if self._borrower is None:
            return False
        self.output.trim()
        if self._borrower.poll() is None:
            return False
        self._borrower = None
        if not self.closed:
            self.output.speak()
        return True

    def clear(self) -> None:
        os.write(self.output.err, b"\x1b[H\x1b[2J\x1b[3J")

    def _in_front(self) -> bool:
        try:
            return os.tcgetpgrp(self.number) == os.getpgrp()
        except OSError:  # a terminal without job control: no other program can have it
            return True

    def _give(self) -> None:
        if self._ours and self._in_front():
            with _unstoppable(), contextlib.suppress(termios.error):
                termios.tcsetattr(self.number, termios.TCSADRAIN, self._before)
        self._ours = False

    def _end_borrower(self, program: "subprocess.Popen[bytes]") -> None:
        # Like Ctrl-C, so that the program restores the screen.
        program.send_signal(signal.SIGINT)
        try:
            program.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            with contextlib.suppress(OSError):
                os.write(self.output.err, _PLAIN_SCREEN)
        with _unstoppable(), contextlib.suppress(termios.error):
            termios.tcsetattr(self.number, termios.TCSADRAIN, self._before)
        if not self.closed:
            self.output.speak()
            self.output.show_held()


@contextlib.contextmanager
def _unstoppable() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
