"""Fork server: starts Python programs at once, forked from a process that has imported everything.

Each program is a process of its own, with its own memory, files, signals, terminal and exit code.
What is saved is the import of the product, which takes many times longer than a command does.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MESSAGE = 1 << 17
#: What the product imports when it is first needed.
_LIBRARIES = ("asyncpg", "pymysql", "rich.console", "rich.table", "rich.traceback", "structlog.dev")


class ForkedProcess:
    """A program that was forked; used like `subprocess.Popen`."""

    def __init__(self, line: socket.socket) -> None:
        self.pid = int(line.recv(_MESSAGE))
        self.returncode: int | None = None
        self._line = line.detach()
        os.set_blocking(self._line, False)
        self._lock = threading.Lock()
        weakref.finalize(self, os.close, self._line)

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        with self._lock:
            if self.returncode is None:
                with contextlib.suppress(BlockingIOError):
                    status = os.read(self._line, _MESSAGE)
                    self.returncode = os.waitstatus_to_exitcode(int(status))
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code once it has ended; TimeoutError when that takes longer than `timeout`."""
        ended = select.poll()
        ended.register(self._line, select.POLLIN)
        if self.returncode is None:
            ended.poll(None if timeout is None else timeout * 1000)
        code = self.poll()
        if code is None:
            raise TimeoutError(f"process {self.pid} still runs after {timeout} s")
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """The process that others are forked from; it starts with the first of them."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self,
        *python: str,
        folder: Path,
        environ: Mapping[str, str],
        streams: tuple[int, int, int],
        session: bool = False,
        terminal: bool = False,
    ) -> ForkedProcess:
        """Run `python -m MODULE ARGS` or `python FILE ARGS` with these streams.

        `session` makes it the leader of a session, and `terminal` gives that one its input to
        control it.
        """
        ours, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = {
            "python": python,
            "folder": str(folder),
            "environ": {**environ},
            "session": session or terminal,
            "terminal": terminal,
        }
        with child_end:
            message = json.dumps(request).encode()
            socket.send_fds(self._connection(), [message], [*streams, child_end.fileno()])
        return ForkedProcess(ours)

    def close(self) -> None:
        """End the server; what it forked goes on."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait()
            self._line = self._process = None

    def _connection(self) -> socket.socket:
        if self._line is None:
            self._line, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with child_end:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", __name__, str(child_end.fileno())],
                    pass_fds=[child_end.fileno()],
                    stdin=subprocess.DEVNULL,
                    cwd=Path(__file__).parents[3],
                )
            atexit.register(self.close)
        return self._line


#: The one of this process.
FORK_SERVER = ForkServer()


def _serve(line: socket.socket) -> None:
    """Fork until the other side closes the line. Returns only in a program."""
    _import_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the watchers
    while True:
        message, passed, _, _ = socket.recv_fds(line, _MESSAGE, 4)
        if not message:
            sys.exit(0)
        if os.fork() == 0:
            line.close()
            _watch(json.loads(message), passed)
            return
        for descriptor in passed:
            os.close(descriptor)


def _import_everything() -> None:
    import windlass

    for module in pkgutil.walk_packages(windlass.__path__, "windlass."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # what it needs is not installed
                importlib.import_module(module.name)
    for name in _LIBRARIES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _watch(request: Mapping[str, Any], passed: Sequence[int]) -> None:
    """Fork the program, send its id, and how it ended. Returns only in the program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, line = passed
    pid = os.fork()
    if pid == 0:
        os.close(line)
        _become(request, streams)
        return
    for stream in streams:
        os.close(stream)
    # Only SIGKILL ends a watcher before its program: signals to the group are for that.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=line) as report, contextlib.suppress(BrokenPipeError):
        report.send(str(pid).encode())
        report.send(str(os.waitpid(pid, 0)[1]).encode())
    os._exit(0)


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    if request["session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in set(streams):
        os.close(stream)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # The process that runs the tests may ignore these.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ
    sys.pycache_prefix = os.environ.get("PYTHONPYCACHEPREFIX")
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = [*request["python"]]


def _run() -> None:
    """Be the interpreter that `sys.argv` are the arguments of."""
    if sys.argv[0] == "-m":
        _, module, *_ = sys.argv
        del sys.argv[0]
        sys.path[0] = os.getcwd()
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


def _end(code: object) -> None:
    """Exit with this code as the interpreter does, but leave its memory alone: to clear it would
    copy all that is shared with the server, 60 MB, which takes longer than a command.

    Returns where there is more to say at exit: the interpreter then does everything.
    """
    if code is not None and not isinstance(code, int):
        return
    threading._shutdown()  # type: ignore[attr-defined]  # waits for the threads that are no daemons
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        _run()
    except SystemExit as exit:
        _end(exit.code)
        raise
    _end(0)
