"""The processes of a chaos run, restarted when they die."""

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.processes.ledger_lines import MEMBER, RELEASE, note
from tests.support.processes.ledger import LEDGER
from tests.support.processes.processes import Process, Processes

_CLI = "windlass.cli"
_HANDLERS = "tests.chaos.processes.handlers"


@dataclass(eq=False)
class Member:
    """One place in the fleet, whatever process fills it now."""

    name: str
    kind: str
    module: str
    arguments: tuple[str, ...]
    url: str
    settings: dict[str, object]
    environment: dict[str, str] = field(default_factory=dict)
    #: Whether the supervisor starts it anew when it ends.
    supervised: bool = True
    release: str = "1"
    process: Process | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.is_running


class Fleet:
    """Starts the processes of a run, as a user and a supervisor would."""

    def __init__(
        self, processes: Processes, settings: Mapping[str, object], concurrency: int
    ) -> None:
        self._processes = processes
        self._settings = dict(settings)
        self._concurrency = concurrency
        self.members: list[Member] = []
        #: How processes ended, by kind: exit codes, negative for a signal.
        self.deaths: list[tuple[Member, int]] = []

    def workers(self) -> list[Member]:
        return [member for member in self.members if member.kind == "worker"]

    def of(self, kind: str) -> list[Member]:
        return [member for member in self.members if member.kind == kind]

    def by_pid(self, pid: int) -> Member | None:
        return next((m for m in self.members if m.process and m.pid == pid), None)

    def worker(self, url: str, **about: str) -> Member:
        return self._add(
            "worker", _CLI, "worker", _HANDLERS, "-c", str(self._concurrency), url=url, **about
        )

    def scheduler(self, url: str) -> Member:
        return self._add("scheduler", _CLI, "scheduler", url=url)

    def server(self, url: str, port: int) -> Member:
        return self._add("server", _CLI, "serve", "--no-auth", "--port", str(port), url=url)

    def program(self, kind: str, url: str, *arguments: str) -> Member:
        """One of this package's own programs; it knows all definitions."""
        return self._add(kind, f"tests.chaos.processes.{kind}", *arguments, url=url, release="2")

    def start(self, member: Member) -> None:
        url = {"WINDLASS_DATABASE_URL": member.url}
        about = {MEMBER: member.name, RELEASE: member.release, **url, **member.environment}
        member.process = self._processes.run(
            member.name,
            member.module,
            *member.arguments,
            settings={**self._settings, **member.settings},
            environment=about,
        )

    async def supervise(self) -> None:
        """Start anew what has ended, until canceled."""
        while True:
            for member in self.members:
                self.look_after(member)
            await asyncio.sleep(0.1)

    def look_after(self, member: Member) -> None:
        if member.process is None or member.process.is_running:
            return
        code = member.process.code
        self.deaths.append((member, code))
        note("died", who=member.name, died=member.pid, code=code)
        member.process = None
        if member.supervised:
            self.start(member)

    async def stop(self, members: list[Member], within: float = 90.0) -> None:
        """Tell processes to stop in good order, and wait for it."""
        for member in members:
            member.supervised = False
            if member.is_running:
                member.process.signal(signal.SIGTERM)  # type: ignore[union-attr]
        for _ in range(int(within / 0.05)):
            if not any(member.is_running for member in members):
                break
            await asyncio.sleep(0.05)
        for member in members:
            if member.is_running:
                note("did not stop", who=member.name)
                member.process.kill()  # type: ignore[union-attr]
            self.look_after(member)

    def outputs(self) -> list[Path]:
        return self._processes.outputs()

    def _add(self, kind: str, module: str, *arguments: str, url: str, **about: str) -> Member:
        name = f"{kind}{sum(m.kind == kind for m in self.members) + 1}"
        member = Member(name, kind, module, arguments, url, {}, **about)  # type: ignore[arg-type]
        self.members.append(member)
        self.start(member)
        return member


def leftovers(ledger: Path) -> Iterator[str]:
    """Processes that know the ledger of a run and are not this one."""
    word = f"{LEDGER}={ledger}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) == os.getpid():
            continue
        try:
            if word in (folder / "environ").read_bytes().split(b"\0"):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                yield f"{folder.name} {line.strip()}"
        except OSError:  # it has just gone
            continue
