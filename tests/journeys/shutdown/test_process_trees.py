"""No process of a process-isolated run outlives its attempt."""

import pytest

from tests.databases.servers.cleanup import is_running
from tests.journeys.journey import SLACK_SECONDS
from tests.support.processes.processes import all_gone

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

#: The promise, and what a busy machine may add.
SECONDS = 5 + SLACK_SECONDS


async def start(journey, **options):
    worker = await journey.worker(slots=1, worker_shutdown_timeout_seconds=0)
    job = await journey.started("family", max_attempts=1, **options)
    [line] = journey.ledger.lines("started", job=job)
    return worker, job, line["pids"]


async def test_a_time_limit_ends_the_process_tree(journey):
    _, job, pids = await start(journey, timeout="6s")

    await journey.ended(job)

    await all_gone(pids, within=SECONDS)
    assert await journey.outcomes(job) == ["timed_out"]


async def test_a_cancel_ends_the_process_tree(journey):
    _, job, pids = await start(journey)

    await journey.wl.jobs.cancel(job)

    await all_gone(pids, within=SECONDS)
    await journey.ended(job)
    assert await journey.outcomes(job) == ["canceled"]


async def test_a_lost_lease_ends_the_process_tree(journey):
    worker, job, pids = await start(journey)
    other = await journey.worker(slots=1)

    await journey.freeze(worker)
    await journey.ended(job)
    assert all(map(is_running, pids)), "nobody could end it meanwhile"
    worker.thaw()

    await all_gone(pids, within=SECONDS)
    assert await journey.outcomes(job) == ["lost"]
    assert other.is_running


async def test_a_shutdown_ends_the_process_tree(journey):
    worker, job, pids = await start(journey)

    worker.terminate()

    await all_gone(pids, within=SECONDS)
    assert await worker.ended() == 0
    assert await journey.outcomes(job) == ["released"]


async def test_the_process_tree_ends_with_a_killed_worker(journey):
    worker, _, pids = await start(journey)

    worker.kill()

    await all_gone(pids, within=SECONDS)


async def test_processes_left_by_a_run_end_with_it(journey):
    _, job, pids = await start(journey)

    journey.let_end()
    await journey.ended(job)

    await all_gone(pids, within=SECONDS)
    assert await journey.outcomes(job) == ["succeeded"]
