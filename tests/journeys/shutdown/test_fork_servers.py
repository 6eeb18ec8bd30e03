"""Fork servers end with their worker, however that ends."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

from tests.journeys.journey import SLACK_SECONDS
from tests.support.processes.processes import all_gone
from windlass.core.jobs.states import JobState

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def test_idle_fork_servers_end_when_the_worker_stops(journey):
    worker, fork_servers = await a_worker_with_a_fork_server(journey)

    worker.terminate()

    assert await worker.ended() == 0
    await all_gone(fork_servers, within=SLACK_SECONDS)


async def test_idle_fork_servers_end_when_the_worker_is_killed(journey):
    worker, fork_servers = await a_worker_with_a_fork_server(journey)

    worker.kill()

    await all_gone(fork_servers, within=SLACK_SECONDS)


async def test_a_fork_server_and_its_runs_end_when_the_worker_is_killed(journey):
    worker = await journey.worker(slots=1)
    job = await journey.started("family")
    [line] = journey.ledger.lines("started", job=job)
    below = descendants(worker.pid)
    assert set(line["pids"]) <= set(below)

    worker.kill()

    await all_gone(below, within=SLACK_SECONDS)


async def test_the_next_job_runs_after_the_fork_server_was_killed(journey):
    worker, fork_servers = await a_worker_with_a_fork_server(journey)

    for pid in fork_servers:
        with contextlib.suppress(ProcessLookupError):  # it went with the one before
            os.kill(pid, signal.SIGKILL)
    job = await journey.enqueue("process")

    assert (await journey.ended(job)).state is JobState.COMPLETED
    assert worker.is_running


async def a_worker_with_a_fork_server(journey):
    """A worker that has run a job in a process, and what is left of its processes."""
    journey.let_end()
    worker = await journey.worker(slots=1)
    await journey.ended(await journey.enqueue("process"))
    fork_servers = descendants(worker.pid)
    assert fork_servers
    return worker, fork_servers


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)]
    return found
