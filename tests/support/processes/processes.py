"""Starts processes of a journey, signals them, and shows their output when a test fails."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from tests.databases.servers.cleanup import is_running
from tests.support.processes.fork_server import FORK_SERVER, ForkedProcess
from tests.support.processes.ledger import GATES, LEDGER, Ledger
from tests.support.wait import until

_ROOT = Path(__file__).parents[3]
_BYTECODE = Path(tempfile.gettempdir()) / f"windlass-bytecode-{os.getuid()}"
_UNHEARD = ("WINDLASS_", "PYTHONDONTWRITEBYTECODE")


RunningProcess = ForkedProcess | subprocess.Popen[bytes]


class Process:
    """One process of a journey; its output is in a file."""

    def __init__(self, name: str, popen: RunningProcess, output: Path) -> None:
        self.name = name
        self.output = output
        self._popen = popen

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    @property
    def code(self) -> int:
        """How it ended: its exit code, negative for a signal."""
        code = self._popen.poll()
        assert code is not None
        return code

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def terminate(self) -> None:
        """Tell it to stop in good order."""
        self.signal(signal.SIGTERM)

    def freeze(self) -> None:
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL; returns when it is gone."""
        self._popen.kill()
        self._popen.wait()

    async def ended(self, within: float = 60.0) -> int:
        """Its exit code, waited for; negative for a signal."""
        await until(
            lambda: not self.is_running, within=within, waiting_for=f"the end of {self.name}"
        )
        return self.code


class Processes:
    """All processes of one journey: none outlives it."""

    def __init__(self, url: str, ledger: Ledger, folder: Path) -> None:
        self._url = url
        self._ledger = ledger
        self._folder = folder
        self._started: list[Process] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill_all()
        for process in self._started:
            # pytest shows this only for a test that failed.
            print(f"--- {process.name} ({process.pid}) said:\n{process.output.read_text()}")
        print(f"--- the ledger:\n{self._ledger.path.read_text()}")

    def kill_all(self) -> None:
        """End every process that still runs."""
        for process in self._started:
            if process.is_running:
                process.thaw()
                process.kill()

    def outputs(self) -> list[Path]:
        """What each process said."""
        return [process.output for process in self._started]

    def open_gate(self, name: str) -> None:
        (self._folder / name).touch()

    def by_pid(self, pid: int) -> Process:
        return next(process for process in self._started if process.pid == pid)

    def start(self, module: str, *arguments: str, settings: Mapping[str, object]) -> Process:
        """Run `python -m tests.journeys.programs.<module>` with settings such as worker_lease_seconds."""
        return self.run(module, f"tests.journeys.programs.{module}", *arguments, settings=settings)

    def run(
        self,
        kind: str,
        module: str,
        *arguments: str,
        settings: Mapping[str, object],
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Process:
        """Run `python -m <module>`, named after its kind and a number."""
        name = f"{kind}-{len(self._started) + 1}"
        output = self._folder / f"{name}.out"
        given = {f"WINDLASS_{key.upper()}": str(value) for key, value in settings.items()}
        environ = {
            **{k: v for k, v in os.environ.items() if not k.startswith(_UNHEARD)},
            # Many processes start here: compiling everything each time would be the
            # most of their work.
            "PYTHONPYCACHEPREFIX": str(_BYTECODE),
            "WINDLASS_DATABASE_URL": self._url,
            LEDGER: str(self._ledger.path),
            GATES: str(self._folder),
            **given,
            **environment,
        }
        with output.open("wb") as file:
            popen = _start(("-m", module, *arguments), environ, file.fileno())
        process = Process(name, popen, output)
        self._started.append(process)
        return process


def _start(python: Sequence[str], environ: Mapping[str, str], output: int) -> RunningProcess:
    if "LD_PRELOAD" in environ:  # is heeded where a program begins, not where it is forked
        return subprocess.Popen(
            [sys.executable, *python],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=_ROOT,
            env=environ,
        )
    with open(os.devnull, "rb") as nothing:
        streams = (nothing.fileno(), output, output)
        return FORK_SERVER.start(*python, folder=_ROOT, environ=environ, streams=streams)


async def all_gone(pids: list[int], *, within: float) -> None:
    """Wait until none of these processes runs any more."""
    await until(
        lambda: not any(map(is_running, pids)),
        within=within,
        waiting_for=f"the end of {[pid for pid in pids if is_running(pid)]}",
    )
