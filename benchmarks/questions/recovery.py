"""Time until work resumes after a fault, in separate processes with default settings."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path

from benchmarks.findings import Finding, alone
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.databases import migrate
from tests.databases.kinds import Kind
from tests.databases.packages import MARIADB, POSTGRES, ensure
from tests.databases.servers import Server, mariadb, postgres
from tests.journeys.journey import Journey
from tests.support.processes.ledger import Ledger
from tests.support.processes.processes import Process, Processes
from tests.support.servers.tcp_proxy import Proxy
from tests.support.wait import until
from windlass import Windlass

QUESTION = "How soon does work go on after a fault, at default settings?"
#: How long a server is away, and how long a link is watched after it fell silent.
AWAY_SECONDS, SILENT_SECONDS = 10.0, 20.0
_KILLED, _RETURN, _SILENT = (
    "a killed worker's job starts again",
    "work after the server's return",
    "a silent link, longest time without a job",
)
_GOALS = {_KILLED: "R1", _RETURN: "R2", _SILENT: "R3"}
_LONG = 120.0


def ask(stage: Stage) -> Sequence[Finding]:
    kinds: tuple[Kind, ...] = ("postgresql",) if stage.toy else ("postgresql", "mariadb")
    with ExitStack() as stack:
        servers = {kind: stack.enter_context(_server(kind)) for kind in kinds}
        figures = stage.alternate({"Windlass": lambda: _round(stage, servers)})
    found = figures["Windlass"]
    return [
        alone(name, found, name, "s", goal=_GOALS[name.rpartition(", ")[0]]) for name in found[0]
    ]


def _server(kind: Kind) -> Server:
    ensure([POSTGRES if kind == "postgresql" else MARIADB])
    return postgres(durable=True) if kind == "postgresql" else mariadb(durable=True)


def _round(stage: Stage, servers: Mapping[Kind, Server]) -> Figures:
    urls: dict[str, str] = {
        "sqlite": stage.empty("sqlite"),
        **{kind: each.url for kind, each in servers.items()},
    }
    for url in urls.values():
        migrate(url)
    # Short leases only in a toy run, where nobody reads the figures.
    settings = {"worker_lease_seconds": 2} if stage.toy else {}
    return asyncio.run(_each_fault(stage, urls, servers, settings))


async def _each_fault(
    stage: Stage,
    urls: Mapping[str, str],
    servers: Mapping[Kind, Server],
    settings: Mapping[str, object],
) -> Figures:
    """The faults one after the other; but workers are killed at once, because leases take long."""
    killed = await asyncio.gather(*(_kill_a_worker(url, settings) for url in urls.values()))
    figures = {f"{_KILLED}, {kind}": seconds for kind, seconds in zip(urls, killed, strict=True)}
    away, silent = stage.seconds(AWAY_SECONDS), stage.seconds(SILENT_SECONDS)
    for kind, server in servers.items():
        figures[f"{_RETURN}, {kind}"] = await _stop_the_server(server, away, settings)
        figures[f"{_SILENT}, {kind}"] = await _silence_a_link(server, silent, settings)
    return figures


async def _kill_a_worker(url: str, settings: Mapping[str, object]) -> float:
    async with _journey(url) as journey:
        workers = [await _worker(journey, url, settings) for _ in range(2)]
        job = await journey.started("async")
        [first] = journey.ledger.lines("started", job=job)
        victim = next(worker for worker in workers if worker.pid == first["pid"])
        victim.kill()
        killed_at = time.monotonic()
        again = await journey.ledger.moment("started", within=_LONG, job=job, fence=2)
        journey.let_end()
        await journey.ended(job)
        return float(again["at"]) - killed_at


async def _stop_the_server(server: Server, seconds: float, settings: Mapping[str, object]) -> float:
    async with _journey(server.url) as journey:
        await _worker(journey, server.url, settings)
        [enqueuer] = await journey.enqueuers(1, pause=0.02)
        await journey.ledger.moments(50, "done")
        await asyncio.to_thread(server.stop)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(server.start)
        back_at = time.monotonic()
        done = await until(
            lambda: [line for line in journey.ledger.lines("done") if line["at"] > back_at],
            within=_LONG,
            waiting_for="a job after the server's return",
        )
        enqueuer.kill()
        return float(done[0]["at"]) - back_at


async def _silence_a_link(server: Server, seconds: float, settings: Mapping[str, object]) -> float:
    with Proxy.before(server.url) as proxy:
        async with _journey(server.url) as journey:
            await _worker(journey, proxy.url, settings)
            [enqueuer] = await journey.enqueuers(1, pause=0.02)
            await journey.ledger.moments(300, "done", within=_LONG)
            proxy.silence()
            silent_at = time.monotonic()
            proxy.heal()  # for new connections: those that are there stay silent
            await asyncio.sleep(seconds)
            enqueuer.kill()
            times = [line["at"] for line in journey.ledger.lines("done") if line["at"] > silent_at]
            gaps = pairwise([silent_at, *times, silent_at + seconds])
            return float(max(later - earlier for earlier, later in gaps))


@asynccontextmanager
async def _journey(url: str) -> AsyncIterator[Journey]:
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as name:
        ledger = Ledger(Path(name, "ledger"))
        processes = Processes(url, ledger, Path(name))
        try:
            async with Windlass(url) as wl:
                yield Journey(url, wl, ledger, processes)
        finally:
            processes.kill_all()


async def _worker(journey: Journey, url: str, settings: Mapping[str, object]) -> Process:
    process = journey.processes.run(
        "worker",
        "tests.journeys.programs.worker",
        settings=settings,
        environment={"WINDLASS_DATABASE_URL": url},
    )
    await journey.ready(process)
    return process
