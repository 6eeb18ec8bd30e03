"""No process of a command outlives its attempt, and its output is recorded."""

import pytest

from tests.databases.servers.cleanup import is_running
from tests.journeys.journey import SLACK_SECONDS
from tests.support.processes.processes import all_gone
from windlass.core.jobs.states import JobState

#: The promise, and what a busy machine may add.
SECONDS = 5 + SLACK_SECONDS

on_one = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def start(journey, **options):
    worker = await journey.worker(slots=1, worker_shutdown_timeout_seconds=0)
    job = await journey.enqueue("tree", "gate", **{"max_attempts": 1, **options})
    line = await journey.ledger.moment("started", gate="gate")
    return worker, job, line["pids"]


async def test_a_time_limit_ends_the_process_tree_and_keeps_its_output(journey):
    await journey.wl.tenants.create("acme")
    _, job, pids = await start(journey, timeout="6s", tenant="acme")

    ended = await journey.ended(job)

    await all_gone(pids, within=SECONDS)
    assert (ended.state, ended.last_error) == (
        JobState.DEAD_LETTER,
        "Job exceeded timeout of 6s",
    )
    [attempt] = await journey.attempts(job)
    assert (attempt.outcome, attempt.pid, attempt.exit_code) == ("timed_out", pids[0], -9)
    assert (attempt.stdout_tail, attempt.stderr_tail) == ("all are here\n", "")
    [line] = await (await journey.wl.ready()).jobs.logs(job)
    assert (line.level, line.message, line.attempt) == ("info", "all are here", 1)
    [started] = journey.ledger.lines("started")
    assert started["about"] == ["--tenant-id", "acme"]
    assert journey.ledger.lines("asked to stop"), "it was not asked first"


async def test_the_process_tree_ends_with_a_killed_worker_and_the_job_is_retried(journey):
    worker, job, pids = await start(journey, max_attempts=2)

    worker.kill()

    await all_gone(pids, within=SECONDS)
    journey.let_end()
    await journey.worker(slots=1)
    await journey.ended(job)
    assert await journey.outcomes(job) == ["lost", "succeeded"]
    [_, attempt] = await journey.attempts(job)
    assert (attempt.exit_code, attempt.stdout_tail) == (0, "all are here\n")


@on_one
async def test_a_cancel_ends_the_process_tree(journey):
    _, job, pids = await start(journey)

    await journey.wl.jobs.cancel(job)

    await all_gone(pids, within=SECONDS)
    assert (await journey.ended(job)).state is JobState.CANCELED
    assert await journey.outcomes(job) == ["canceled"]


@on_one
async def test_a_lost_lease_ends_the_process_tree(journey):
    worker, job, pids = await start(journey)
    await journey.worker(slots=1)

    await journey.freeze(worker)
    await journey.ended(job)
    assert all(map(is_running, pids)), "nobody could end it meanwhile"
    worker.thaw()

    await all_gone(pids, within=SECONDS)
    assert await journey.outcomes(job) == ["lost"]


@on_one
async def test_a_shutdown_ends_the_process_tree(journey):
    worker, job, pids = await start(journey)

    worker.terminate()

    await all_gone(pids, within=SECONDS)
    assert await worker.ended() == 0
    assert await journey.outcomes(job) == ["released"]


@on_one
async def test_processes_left_by_a_command_end_with_it(journey):
    _, job, pids = await start(journey)

    journey.let_end()
    await journey.ended(job)

    await all_gone(pids, within=SECONDS)
    assert await journey.outcomes(job) == ["succeeded"]
