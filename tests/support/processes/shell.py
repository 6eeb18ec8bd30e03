"""A shell for tests: runs `windlass` as a process of its own, at a terminal or not."""

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Self
from unittest import mock

from tests.support.processes.fork_server import FORK_SERVER, ForkedProcess
from windlass.cli.main import run

_MODULE = ("-m", "windlass.cli")
_COMMAND = [sys.executable, *_MODULE]
_PATIENCE = 60.0
#: Makes the terminal of a new session the one that controls it, as a window does.
_CONTROLLED = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
#: Whoever runs the tests may have these ignored, and what they start inherits that.
_AS_USUAL = ("env", "--default-signal=HUP,INT")
_NOTHING: Mapping[str, str] = {}

JOBS = '''
import time
from pathlib import Path

from pydantic import SecretStr

from windlass import JobContext, Permanent, Windlass

wl = Windlass()

@wl.job
def hello(name: str) -> str:
    """Say hello."""
    return f"Hello, {name}!"

@wl.job
def count(number: int, factor: float = 1.0, label: str | None = None) -> float:
    return number * factor

@wl.job(max_attempts=1)
def fail(why: str = "no reason") -> None:
    raise ValueError(why)

@wl.job
def wait_for(ctx: JobContext, file: str) -> str:
    ctx.log.info("waiting", file=file)
    while not Path(file).exists():
        ctx.checkpoint()
        time.sleep(0.02)
    return "done"

@wl.job
def login(user: str, secret: SecretStr) -> None:
    raise Permanent(f"wrong password={secret.get_secret_value()}")
'''


RunningProcess = ForkedProcess | subprocess.Popen[bytes]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Started:
    """A command that goes on; what it prints is read as it comes."""

    def __init__(self, process: RunningProcess, *streams: IO[str]) -> None:
        self.process = process
        self._pipes = streams
        self._text: list[str] = []
        self._changed = threading.Condition()
        self._readers = [threading.Thread(target=read, daemon=True) for read in self._streams()]
        for reader in self._readers:
            reader.start()

    @property
    def text(self) -> str:
        """Everything printed so far, on both streams."""
        return "".join(self._text)

    def sees(self, pattern: str, *, times: int = 1, patience: float = _PATIENCE) -> str:
        """Return once what was printed matches; fail if it does not in time."""
        with self._changed:
            seen = self._changed.wait_for(lambda: self._count(pattern) >= times, patience)
        assert seen, f"{pattern!r} was not seen {times} times in:\n{self.text}"
        return self.text

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def first_child(self) -> int:
        """The process id of a child."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        return int(children[0])

    def ends(self, *, patience: float = _PATIENCE) -> int:
        """The exit code, once it has ended by itself."""
        return self.process.wait(patience)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(_PATIENCE)

    def _count(self, pattern: str) -> int:
        return len(re.findall(pattern, self.text, re.MULTILINE))

    def _streams(self) -> list[Callable[[], None]]:
        return [partial(self._read, pipe) for pipe in self._pipes]

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._add(line)

    def _add(self, text: str) -> None:
        with self._changed:
            self._text.append(text)
            self._changed.notify_all()


class Seated(Started):
    """A command with a terminal of its own, which somebody sits at."""

    def __init__(self, process: RunningProcess, terminal: int, modes: list[Any]) -> None:
        self.terminal = terminal
        #: How the terminal was set before the command started.
        self.modes_before = modes
        super().__init__(process)

    def types(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def interrupt(self, worked: Callable[[], object]) -> None:
        """Press Ctrl-C, and again if it has not worked for a while: Python does not hear one that
        comes in the very moment in which a prompt begins to read."""
        until = time.monotonic() + _PATIENCE
        while not worked():
            assert time.monotonic() < until, f"an interrupt changed nothing:\n{self.text}"
            self.types("\x03")
            pressed = time.monotonic()
            while not worked() and time.monotonic() < pressed + 2:
                time.sleep(0.02)

    def modes(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self.terminal)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.terminal)
        self.terminal = -1

    def close(self) -> None:
        super().close()
        if self.terminal >= 0:
            self.hang_up()

    def _streams(self) -> list[Callable[[], None]]:
        return [self._read_terminal]

    def _read_terminal(self) -> None:
        terminal = self.terminal
        while True:
            try:
                if not select.select([terminal], [], [], 0.05)[0]:
                    if self.terminal < 0 or self.process.poll() is not None:
                        return
                    continue
                some = os.read(terminal, 65536)
            except (OSError, ValueError):  # the other side is closed, or this one
                return
            self._add(some.decode(errors="replace").replace("\r\n", "\n"))


@dataclass
class Shell:
    """Runs commands in one folder on one database."""

    folder: Path
    url: str | None = None
    started: list[Started] = field(default_factory=list)

    def run(self, *args: str, stdin: str = "", **env: str) -> Done:
        """Run a command to its end, with no terminal anywhere."""
        with (
            tempfile.TemporaryFile("w+") as given,
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):
            given.write(stdin)
            given.seek(0)
            streams = (given.fileno(), out.fileno(), err.fileno())
            code = _to_its_end(self._fork((*_MODULE, *args), env, streams))
            out.seek(0)
            err.seek(0)
            return Done(code, out.read(), err.read())

    def here(self, *args: str) -> Done:
        """Run a command in this process: to prepare something, or to look at what another did."""
        done = self.attempt(*args)
        assert done.code == 0, done
        return done

    def attempt(self, *args: str) -> Done:
        """Run a command in this process that may fail."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, self.environment(), clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(args)
        return Done(code, out.getvalue(), err.getvalue())

    def python(self, *args: str, **env: str) -> Done:
        """Run a program of the test's own."""
        return self._run([sys.executable, *args], env)

    def sh(self, line: str) -> Done:
        """Run a line of shell in which `windlass` is a command."""
        command = " ".join(_COMMAND)
        return self._run(["bash", "-c", f'windlass() {{ {command} "$@"; }}; {line}'])

    def ok(self, *args: str, stdin: str = "", **env: str) -> Done:
        """Run a command that has to succeed."""
        done = self.run(*args, stdin=stdin, **env)
        assert done.code == 0, done
        return done

    def start(self, *args: str, before: Sequence[str] = (), **env: str) -> Started:
        """Start a command that goes on; `before` is a program that runs it."""
        if before:
            return self._start([*before, *_COMMAND, *args], env)
        with _Pipes() as pipes:
            return self._went_on(self._fork((*_MODULE, *args), env, pipes.streams), pipes)

    def start_python(self, *args: str) -> Started:
        """Start a program of the test's own that goes on."""
        with _Pipes() as pipes:
            return self._went_on(self._fork(args, {}, pipes.streams), pipes)

    def _start(self, command: list[str], env: Mapping[str, str]) -> Started:
        with _Pipes() as pipes:
            stdin, stdout, stderr = pipes.streams
            process = subprocess.Popen(
                [*_AS_USUAL, *command],
                cwd=self.folder,
                env=self.environment(**env),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
            return self._went_on(process, pipes)

    def _went_on(self, process: RunningProcess, pipes: "_Pipes") -> Started:
        self.started.append(Started(process, *pipes.read()))
        return self.started[-1]

    def sit_at(self, *args: str, command: Sequence[str] = (), **env: str) -> Seated:
        """Start a command that goes on, or another program, at a terminal that controls it."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        modes = termios.tcgetattr(ours)
        process: RunningProcess
        if command:
            process = subprocess.Popen(
                [*_AS_USUAL, sys.executable, "-c", _CONTROLLED, *command, *args],
                cwd=self.folder,
                env=self.environment(**env),
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                start_new_session=True,
            )
        else:
            process = self._fork((*_MODULE, *args), env, (theirs,) * 3, terminal=True)
        os.close(theirs)
        seated = Seated(process, ours, modes)
        self.started.append(seated)
        return seated

    def at_terminal(
        self, *args: str, types: str = "", once: str = "", width: int = 100, **env: str
    ) -> Done:
        """Run a command at a terminal, where both streams end up in `out`. What is typed is typed
        at once, or when the terminal shows `once`: a prompt for a password drops what came before."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
        process = self._fork((*_MODULE, *args), env, (theirs,) * 3, session=True)
        os.close(theirs)
        shown = _all_of(ours, types, once)
        os.close(ours)
        return Done(_to_its_end(process), shown.replace("\r\n", "\n"), "")

    def _fork(
        self,
        python: Sequence[str],
        env: Mapping[str, str],
        streams: tuple[int, int, int],
        **how: bool,
    ) -> ForkedProcess:
        environ = self.environment(**env)
        return FORK_SERVER.start(
            *python, folder=self.folder, environ=environ, streams=streams, **how
        )

    def _run(self, command: list[str], env: Mapping[str, str] = _NOTHING) -> Done:
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def environment(self, **more: str) -> dict[str, str]:
        ours = {k: v for k, v in os.environ.items() if not k.startswith("WINDLASS_")}
        for name in ("NO_COLOR", "COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE"):
            ours.pop(name, None)
        # Compiled once for all processes of a run: half of what a command costs otherwise.
        ours["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "windlass-bytecode")
        # Whoever runs the tests may have contexts and logins: these commands have none.
        ours["XDG_CONFIG_HOME"] = str(self.folder / "config")
        ours["XDG_CACHE_HOME"] = str(self.folder / "cache")
        ours |= {"TERM": "xterm-256color", "TZ": "UTC"} | more
        if self.url and "WINDLASS_DATABASE_URL" not in more:
            ours["WINDLASS_DATABASE_URL"] = self.url
        return ours

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def close(self) -> None:
        for started in self.started:
            started.close()


class _Pipes:
    """No input, and a pipe for each of output and errors; the ends for the process close at exit."""

    def __enter__(self) -> Self:
        self._read_out, out = os.pipe()
        self._read_err, err = os.pipe()
        self.streams = (os.open(os.devnull, os.O_RDONLY), out, err)
        return self

    def __exit__(self, *error: object) -> None:
        for stream in self.streams:
            os.close(stream)

    def read(self) -> list[IO[str]]:
        return [open(end, encoding="utf-8") for end in (self._read_out, self._read_err)]


def _to_its_end(process: ForkedProcess) -> int:
    """The exit code of a process, which is killed if it does not end."""
    try:
        return process.wait(_PATIENCE)
    except TimeoutError:
        process.kill()
        raise


def _all_of(terminal: int, types: str, once: str) -> str:
    shown = b""
    typed = False
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if not typed and once.encode() in shown:
            os.write(terminal, types.encode())
            typed = True
        if select.select([terminal], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):  # the other side is closed
                if some := os.read(terminal, 65536):
                    shown += some
                    continue
            break
    return shown.decode()
