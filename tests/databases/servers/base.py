"""Base of the two servers: a directory, a port, a process, and a cleanup that always runs."""

import contextlib
import os
import pwd
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from tests.databases import scratch
from tests.databases.kinds import NoDatabase

#: Longest wait for a server to answer or to end, in seconds; recovery after a crash included.
PATIENCE = 60.0
#: Another process may take a free port between our look and the server's start.
PORTS_TO_TRY = 3

_MINDER = Path(__file__).with_name("cleanup.py")


class Server(ABC):
    """One private database server, started by `with` and removed at the block's end.

    `durable` keeps the safety a production server has: what was committed survives `kill`.
    Without it a crash may lose or break everything, and tests run several times faster.
    `parent` is the folder its own one is made in, if not that for temporary files.
    """

    kind: ClassVar[str]
    _stop_signal: ClassVar[signal.Signals]

    def __init__(self, *, durable: bool = False, parent: Path | None = None) -> None:
        self.durable = durable
        self._parent = parent
        self.user = "windlass"
        self.password = secrets.token_hex(8)
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """URL of an empty database, as an account that may create others."""
        return f"{self.kind}://{self.user}:{self.password}@127.0.0.1:{self.port}/windlass"

    @property
    def pid(self) -> int:
        """The server's first process."""
        return self._running().pid

    @property
    def minder_pid(self) -> int:
        """The process that removes the server; it ends when that is done."""
        return self._minder.pid

    def __enter__(self) -> Self:
        self._account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        parent = self._parent or (scratch.open_to_all() if self._account else None)
        self.directory = Path(tempfile.mkdtemp(prefix=f"windlass-{self.kind}-", dir=parent))
        self._minder = subprocess.Popen(
            [sys.executable, "-IS", _MINDER, self.directory],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C must not end it before the server
        )
        try:
            if self._account:
                os.chown(self.directory, self._account.pw_uid, self._account.pw_gid)
            self._initialise()
            self._start_on_a_free_port()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def start(self) -> None:
        """Start on the same port and data as before; returns once it accepts connections."""
        self._process = self._popen(*self._command())
        self._tell_minder(self._process.pid)
        self._wait_until_it_answers(self._process)

    def stop(self) -> None:
        """End it in good order: clients are cut off, everything is written."""
        process = self._running()
        process.send_signal(self._stop_signal)
        process.wait(PATIENCE)
        self._forget()

    def restart(self) -> None:
        """Stop and start; clients lose their connections and cannot reconnect for a moment."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """SIGKILL to every process of the server at once; `start` then recovers."""
        process = self._running()
        process.send_signal(signal.SIGSTOP)  # else it could start more while we count
        for child in _children_of(process.pid):
            os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait(PATIENCE)
        self._forget()

    def answer(self) -> None:
        """Connect once; NoDatabase if its process has ended, the driver's error if it refuses."""
        if self._process is None or self._process.poll() is not None:
            self._forget()
            raise NoDatabase(f"{self.kind} has ended:\n{self._log_tail()}")
        self._connect()

    @abstractmethod
    def _initialise(self) -> None:
        """Make the data directory."""

    @abstractmethod
    def _command(self) -> list[str]:
        """The server in the foreground."""

    @abstractmethod
    def _connect(self) -> None:
        """Connect once and disconnect; raise while the server is not ready."""

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    @property
    def _log(self) -> Path:
        return self.directory / "server.log"

    def _popen(self, *command: str | Path) -> subprocess.Popen[bytes]:
        """Run `command` not as root, and blind to the caller's PG* and MYSQL_* variables."""
        with self._log.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env={"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C"},
                start_new_session=True,
                user=self._account.pw_uid if self._account else None,
                group=self._account.pw_gid if self._account else None,
                extra_groups=[] if self._account else None,
            )

    def _run_tool(self, *command: str | Path) -> None:
        if self._popen(*command).wait() != 0:
            raise NoDatabase(f"{command[0]} failed:\n{self._log_tail()}")

    def _write(self, name: str, text: str) -> Path:
        """A file in the server's directory that only its account can read."""
        path = self.directory / name
        path.touch(mode=0o600)
        path.write_text(text)
        if self._account:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)
        return path

    def _start_on_a_free_port(self) -> None:
        for left in reversed(range(PORTS_TO_TRY)):
            self.port = _free_port()
            try:
                self.start()
                break
            except NoDatabase:
                if not left:
                    raise

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._connect()
            except Exception as error:
                if process.poll() is not None:
                    self._forget()
                    raise NoDatabase(f"{self.kind} did not start:\n{self._log_tail()}") from error
                if time.monotonic() > deadline:
                    raise NoDatabase(
                        f"{self.kind} does not answer ({error}):\n{self._log_tail()}"
                    ) from error
            time.sleep(0.02)

    def _log_tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-20:])

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise NoDatabase(f"{self.kind} is not running")
        return self._process

    def _forget(self) -> None:
        self._process = None
        self._tell_minder(0)

    def _tell_minder(self, pid: int) -> None:
        assert self._minder.stdin is not None
        self._minder.stdin.write(f"{pid}\n".encode())
        self._minder.stdin.flush()

    def _end(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._minder.communicate()  # closes the pipe; see minder.py for the rest
        if self._process is not None:
            self._process.wait(PATIENCE)
            self._process = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _children_of(pid: int) -> list[int]:
    listing = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listing.read_text().split()] if listing.exists() else []
