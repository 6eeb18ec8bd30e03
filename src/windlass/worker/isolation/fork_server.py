"""A process with a handler's module imported: `python -m windlass.worker.isolation.fork_server <tell> <hear>`.

It forks a supervisor for each run, and runs nothing itself. It has a supervisor of its own, which is thin
and never hangs: that one ends everything when the worker is gone, even in the midst of the import.
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

from windlass.core.payloads.payload import dump_json
from windlass.worker.handlers import Handler
from windlass.worker.isolation import child
from windlass.worker.isolation.fork_safety import is_fork_safe, open_descriptors
from windlass.worker.isolation.supervisor import (
    child_exit_descriptor,
    children,
    supervise,
    terminate_process,
)
from windlass.worker.linux import adopt_orphans


class ForkedRun(NamedTuple):
    """What a process that was forked for a run has to do."""

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
    """Imports a module, then forks whenever it is told to."""

    def __init__(self, descriptor: int, control: int) -> None:
        self._descriptor = descriptor
        self._control = socket.socket(fileno=control)
        self._receive_buffer = b""
        self._sockets: list[int] = []
        self._supervisors: dict[int, int] = {}

    def prepare(self, order: dict[str, Any]) -> bool:
        """Import, and tell whether the process may be forked now."""
        before = open_descriptors()
        sys.path[:] = order["path"]
        try:
            _make_ready(child.import_handler_module(order["module"], order["file"]))
            fit = is_fork_safe(before)
        except BaseException:  # noqa: BLE001  a run that is started afresh tells what it is
            fit = False
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # else each fork would write it again
        # What is there by now stays: looking at it again would only copy its pages in each fork.
        gc.collect()
        gc.freeze()
        self._send(kind="fit", fit=fit)
        return fit

    def serve(self) -> ForkedRun | None:
        """Fork runs until the worker wants no more. In a process made for a run, answers it."""
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
            for words in self._receive_requests():
                if words is None:
                    return None
                if (run := self._handle_request(words, wake)) is not None:
                    return run

    def _receive_requests(self) -> Iterator[dict[str, int] | None]:
        heard, sockets, _, _ = socket.recv_fds(self._control, 4096, 16)
        if not heard:
            yield None
        self._sockets += sockets
        *lines, self._receive_buffer = (self._receive_buffer + heard).split(b"\n")
        yield from map(json.loads, lines)

    def _handle_request(self, words: dict[str, int], wake: int) -> ForkedRun | None:
        number = words["run"]
        if "signal" not in words:
            return self._fork(number, self._sockets.pop(0), wake)
        for pid, run in self._supervisors.items():
            if run == number:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, words["signal"])
        return None

    def _fork(self, number: int, descriptor: int, wake: int) -> ForkedRun | None:
        fork_server = os.getpid()
        try:
            pid = os.fork()
        except OSError:  # no process is to be had: the closed socket tells that nothing began
            os.close(descriptor)
            self._send(kind="gone", run=number)
            return None
        if pid == 0:
            os.setpgid(0, 0)
            self._control.close()
            for inherited in (self._descriptor, wake, *self._sockets):
                os.close(inherited)
            return _supervise_fork(descriptor, fork_server)
        # By both, as neither can know who is first.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        os.close(descriptor)
        self._supervisors[pid] = number
        return None

    def _reap(self) -> None:
        """Take note of keepers that ended. What one that was killed has left is ours, and ends."""
        strangers = False
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                number = self._supervisors.pop(pid, None)
                if number is not None:
                    self._send(kind="gone", run=number)
                strangers = strangers or number is None or status != 0
        if strangers:
            for pid in set(children()) - self._supervisors.keys():
                terminate_process(pid)

    def _send(self, **fields: object) -> None:
        with contextlib.suppress(ConnectionError):  # the worker is gone, and we are next
            os.write(self._descriptor, json.dumps(fields).encode() + b"\n")


def _make_ready(module: object) -> None:
    """Do what each run would do first: make the models of the payloads."""
    for job in vars(module).values():
        if type(job).__module__.partition(".")[0] != "windlass":
            continue  # other objects may do anything when they are asked for an attribute
        handler = getattr(job, "handler", None)
        if isinstance(handler, Handler) and handler.definition.isolation == "process":
            with contextlib.suppress(Exception):  # the run tells
                dump_json(handler.payload.schema)


def _supervise_fork(descriptor: int, fork_server: int) -> ForkedRun:
    """Go on as a supervisor, and in the process it forks answer the run."""
    try:
        os.dup2(descriptor, 0)
        with open(0, "rb", closefd=False) as orders:
            order = orders.readline()
        if order and supervise(descriptor, fork_server):
            return ForkedRun(order, descriptor)
    except BaseException:  # noqa: BLE001  not one of the handler's: its module must not hear of it
        os._exit(1)
    os._exit(0)


def _drop_import_exit_handlers() -> None:
    """Leave what the import wants done at exit to the stem: a folder it has made for itself is
    still needed by the runs to come. What a handler wants done at exit is done."""
    atexit._clear()
    # First in, last out: what the import has made is not taken down either.
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
