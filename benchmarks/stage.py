"""Stage of a benchmark: private durable servers, disposable databases, and the compared sides."""

import asyncio
import gc
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.measure import Figures, alternate, command, run_side
from benchmarks.peers import VERSIONS, Peers
from tests.databases.connect import execute
from tests.databases.kinds import Kind
from tests.databases.packages import MARIADB, POSTGRES, ensure
from tests.databases.servers import Server, mariadb, postgres

#: However large a question is, a toy run makes do with this many jobs.
TOY = 60


@dataclass(frozen=True, slots=True)
class Side:
    """One system: a program and a file that knows its verbs."""

    name: str
    program: str
    file: str
    #: In a toy run ours needs no process of its own, which would take longer than its deed.
    inside: bool = False

    def __call__(self, verb: str, url: str, *args: object) -> Figures:
        if self.inside:
            return self._run_inside(verb, url, *map(str, args))
        return run_side(self.program, self.file, verb, url, *map(str, args))

    def _run_inside(self, verb: str, *args: str) -> Figures:
        verbs = import_module(f"benchmarks.sides.{self.file}").VERBS
        before = gc.get_threshold()
        try:
            figures: Figures = asyncio.run(verbs[verb](*args))
        finally:  # a worker tunes the collector for a process that is its own
            # What it froze stays so: unfreezing would have the collector go through everything
            # that this process, which runs tests, had frozen before.
            gc.set_threshold(*before)
        return figures

    def command(self, verb: str, url: str, *args: object) -> list[str]:
        """The same as a command line, for a process that runs beside others."""
        return command(self.program, self.file, verb, url, *map(str, args))


class Stage:
    """Servers start when first needed and are gone, with every database, when the block ends.

    `urls` names servers to use instead of private ones; whether those are durable is not checked.
    """

    def __init__(
        self,
        *,
        rounds: int = 5,
        toy: bool = False,
        peers: Peers | None = None,
        urls: Mapping[Kind, str] | None = None,
    ) -> None:
        self.rounds = 1 if toy else rounds
        self.toy = toy
        self.peers = peers or Peers(wanted=False)
        self.notes: list[str] = []
        self._urls = dict(urls or {})
        self._stack = ExitStack()
        self._numbers = itertools.count(1)
        self._filled: dict[tuple[str, int], str] = {}
        self._made: set[str] = set()

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="windlass-bench-"))
        self._stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()
        self._stack.close()

    def jobs(self, number: int) -> int:
        """So many jobs, or in a toy run a few."""
        return min(number, TOY) if self.toy else number

    def seconds(self, number: float) -> float:
        """So much time, or in a toy run a moment."""
        return 0.2 if self.toy else number

    def looks(self, number: int) -> int:
        """So many repetitions, or in a toy run as few as a p95 can be told of."""
        return 2 if self.toy else number

    def alternate(self, sides: Mapping[str, Callable[[], Figures]]) -> dict[str, list[Figures]]:
        return alternate(sides, rounds=self.rounds)

    @property
    def windlass(self) -> Side:
        return self._ours("windlass_side")

    @property
    def producer(self) -> Side:
        return self._ours("windlass_enqueue")

    @property
    def claimer(self) -> Side:
        return self._ours("windlass_claim")

    @property
    def viewer(self) -> Side:
        return self._ours("windlass_lists")

    @property
    def screens(self) -> Side:
        return self._ours("windlass_screens")

    @property
    def server(self) -> Side:
        return self._ours("windlass_api")

    @property
    def raw(self) -> Side:
        return self._ours("raw_side")

    @property
    def pgqueuer(self) -> Side | None:
        return self._python_peer("PgQueuer", "pgqueuer_side")

    @property
    def procrastinate(self) -> Side | None:
        return self._python_peer("Procrastinate", "procrastinate_side")

    @property
    def huey(self) -> Side | None:
        return self._python_peer("Huey", "huey_side")

    @property
    def graphile(self) -> Side | None:
        node = self.peers.node
        name = f"Graphile Worker {VERSIONS['Graphile Worker']}"
        return Side(name, node, "graphile_side.mjs") if node else None

    def empty(self, kind: Kind = "postgresql") -> str:
        """URL of a new database without tables."""
        name = f"bench_{os.getpid()}_{next(self._numbers)}"
        if kind == "sqlite":
            return f"sqlite:///{self._folder}/{name}.db"
        server = self._server(kind)
        execute_alone(server, f"create database {name}")
        return self._keep(server.rpartition("/")[0] + f"/{name}")

    def migrated(self, kind: Kind = "postgresql", side: Side | None = None) -> str:
        """URL of a new database with a side's tables, Windlass' by default."""
        url = self.empty(kind)
        (side or self.windlass)("install", url)
        return url

    def filled(self, side: Side, jobs: int) -> str:
        """URL of a PostgreSQL database with a backlog, to be copied; made once for each side."""
        made = (side.name, jobs)
        if made not in self._filled:
            self._filled[made] = self.migrated(side=side)
            side("fill", self._filled[made], jobs)
        return self._filled[made]

    @contextmanager
    def copy(self, template: str) -> Iterator[str]:
        """A copy of a PostgreSQL database while the block lasts."""
        server, _, source = template.rpartition("/")
        name = f"bench_{os.getpid()}_{next(self._numbers)}"
        execute_alone(self._server("postgresql"), f"create database {name} template {source}")
        url = self._keep(f"{server}/{name}")
        try:
            yield url
        finally:
            self.drop(url)

    def drop(self, url: str) -> None:
        """Give a database up before the end, for its room."""
        if url not in self._made:
            return
        self._made.discard(url)
        kind: Kind = "postgresql" if url.startswith("postgresql:") else "mariadb"
        force = " with (force)" if kind == "postgresql" else ""
        execute_alone(self._server(kind), f"drop database {url.rpartition('/')[2]}{force}")

    def clear(self) -> None:
        """Drop every database; the next question begins with none."""
        for url in list(self._made):
            self.drop(url)
        self._filled.clear()

    def versions(self) -> dict[str, str]:
        """The servers of this stage that were used."""
        words: dict[Kind, tuple[str, str]] = {
            "postgresql": ("PostgreSQL", "show server_version"),
            "mariadb": ("MariaDB", "select version()"),
        }
        return {
            name: str(execute(self._urls[kind], statement)[0][0]).split("-")[0].split()[0]
            for kind, (name, statement) in words.items()
            if kind in self._urls
        }

    def _server(self, kind: Kind) -> str:
        if kind not in self._urls:
            ensure([POSTGRES if kind == "postgresql" else MARIADB])
            server: Server = (postgres if kind == "postgresql" else mariadb)(durable=True)
            self._urls[kind] = self._stack.enter_context(server).url
        return self._urls[kind]

    def _keep(self, url: str) -> str:
        self._made.add(url)
        return url

    def _ours(self, file: str) -> Side:
        return Side("Windlass", sys.executable, file, inside=self.toy)

    def _python_peer(self, name: str, file: str) -> Side | None:
        python = self.peers.python
        return Side(f"{name} {VERSIONS[name]}", python, file) if python else None


def execute_alone(url: str, statement: str) -> None:
    """Run a statement that cannot be inside a transaction."""
    if url.startswith("postgresql:"):
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement.encode())
    else:
        execute(url, statement)
