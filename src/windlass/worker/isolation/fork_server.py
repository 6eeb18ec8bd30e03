"""Fork server: a process that has imported a handler's module, and forks a supervisor for each run.

Started with `python -m windlass.worker.isolation.fork_server <report> <control>`, the descriptors it
writes to and reads from. It runs no handler itself. It has a supervisor of its own, which is small
and never hangs: that one ends everything when the worker is gone, even during the import.
"""

import atexit
import contextlib
import gc
import json
import logging
import os
import select
import signal
import socket
import sys
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from windlass.core.payloads.json_text import dump_json
from windlass.worker.handlers import Handler
from windlass.worker.isolation import child
from windlass.worker.isolation.fork_safety import is_fork_safe, open_descriptors
from windlass.worker.isolation.prctl import adopt_orphans
from windlass.worker.isolation.supervisor import (
    child_exit_descriptor,
    children,
    supervise,
    terminate_process,
)


class ForkedRun(NamedTuple):
    """The order of a run, in the process that was forked for it."""

    order: bytes
    descriptor: int


def main() -> None:
    descriptor, control = map(int, sys.argv[1:])
    worker = os.getppid()
    order = sys.stdin.buffer.readline()
    if not order or not supervise(descriptor, worker):
        return
    os.set_inheritable(control, False)
    fork_server = ForkServer(descriptor, control)
    run = fork_server.serve() if fork_server.prepare(json.loads(order)) else None
    if run is not None:
        _drop_import_exit_handlers()
        child.execute_order(json.loads(run.order), run.descriptor)


class ForkServer:
    """Imports a module, then forks a run for each request."""

    def __init__(self, descriptor: int, control: int) -> None:
        self._descriptor = descriptor
        self._control = socket.socket(fileno=control)
        self._receive_buffer = b""
        self._sockets: list[int] = []
        self._supervisors: dict[int, int] = {}

    def prepare(self, order: dict[str, Any]) -> bool:
        """Import the module, and report whether the process is safe to fork now."""
        before = open_descriptors()
        sys.path[:] = order["path"]
        try:
            _make_ready(child.import_handler_module(order["module"], order["file"]))
            fork_safe = is_fork_safe(before)
        except BaseException:  # noqa: BLE001  a spawned run fails in the same way, and reports it
            fork_safe = False
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # else each fork would write it again
        # All objects so far stay alive: collecting them again would only copy their pages per fork.
        gc.collect()
        gc.freeze()
        self._send(kind="ready", fork_safe=fork_safe)
        return fork_safe

    def serve(self) -> ForkedRun | None:
        """Fork runs until the worker closes the connection. Returns the run in a forked process."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # runs may go on while the worker drains
        adopt_orphans()
        wake = child_exit_descriptor()
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if wake in ready:
                os.read(wake, 4096)
            self._reap()
            if self._control.fileno() not in ready:
                continue
            for request in self._receive_requests():
                if request is None:
                    return None
                if (run := self._handle_request(request, wake)) is not None:
                    return run

    def _receive_requests(self) -> Iterator[dict[str, int] | None]:
        received, sockets, _, _ = socket.recv_fds(self._control, 4096, 16)
        if not received:
            yield None
        self._sockets += sockets
        *lines, self._receive_buffer = (self._receive_buffer + received).split(b"\n")
        yield from map(json.loads, lines)

    def _handle_request(self, request: dict[str, int], wake: int) -> ForkedRun | None:
        number = request["run"]
        if "signal" not in request:
            return self._fork(number, self._sockets.pop(0), wake)
        for pid, run in self._supervisors.items():
            if run == number:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, request["signal"])
        return None

    def _fork(self, number: int, descriptor: int, wake: int) -> ForkedRun | None:
        fork_server = os.getpid()
        try:
            pid = os.fork()
        except OSError:  # out of processes: the closed socket shows that nothing began
            os.close(descriptor)
            self._send(kind="gone", run=number)
            return None
        if pid == 0:
            os.setpgid(0, 0)
            self._control.close()
            for inherited in (self._descriptor, wake, *self._sockets):
                os.close(inherited)
            return _supervise_fork(descriptor, fork_server)
        # In both processes: either may be first.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        os.close(descriptor)
        self._supervisors[pid] = number
        return None

    def _reap(self) -> None:
        """Reap supervisors that have ended. Kill the orphans of one that was killed."""
        orphans = False
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                number = self._supervisors.pop(pid, None)
                if number is not None:
                    self._send(kind="gone", run=number)
                orphans = orphans or number is None or status != 0
        if orphans:
            for pid in set(children()) - self._supervisors.keys():
                terminate_process(pid)

    def _send(self, **fields: object) -> None:
        with contextlib.suppress(
            ConnectionError
        ):  # the worker is gone, and this process is about to end
            os.write(self._descriptor, json.dumps(fields).encode() + b"\n")


def _make_ready(module: object) -> None:
    """Build the payload models once, as each run would do first."""
    for job in vars(module).values():
        if type(job).__module__.partition(".")[0] != "windlass":
            continue  # reading an attribute of other objects may run anything
        handler = getattr(job, "handler", None)
        if isinstance(handler, Handler) and handler.definition.isolation == "process":
            with contextlib.suppress(Exception):  # the run reports it
                dump_json(handler.payload.schema)


def _supervise_fork(descriptor: int, fork_server: int) -> ForkedRun:
    """Become a supervisor; in the process that it forks, return the run."""
    try:
        os.dup2(descriptor, 0)
        with open(0, "rb", closefd=False) as orders:
            order = orders.readline()
        if order and supervise(descriptor, fork_server):
            return ForkedRun(order, descriptor)
    except BaseException:  # noqa: BLE001  not the handler's error: its module must not see it
        os._exit(1)
    os._exit(0)


def _drop_import_exit_handlers() -> None:
    """Drop the exit handlers that the import registered: the fork server runs them when it ends,
    and a folder that the import created is needed by later runs. Those of a handler stay."""
    atexit._clear()
    # First in, last out: `_exit` also skips the destructors of what the import created.
    atexit.register(os._exit, 0)
    atexit.register(_flush)
    atexit.register(logging.shutdown)
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        finalizer.atexit = False
    atexit.register(getattr(weakref.finalize, "_exitfunc", lambda: None))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


if __name__ == "__main__":
    main()
