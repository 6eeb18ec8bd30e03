"""Outcomes are recorded in batches, and retried until they are."""

import asyncio

import pytest
import structlog

from tests.support.job_builders import ALDER, finish, held, job, started, state_of
from tests.support.wait import until
from windlass.core.jobs.states import JobState
from windlass.core.payloads.redact import Redactor
from windlass.errors import DatabaseUnreachable
from windlass.telemetry import Telemetry
from windlass.worker.reporting import outcome_writer as module
from windlass.worker.reporting.log_writer import LogWriter
from windlass.worker.reporting.outcome_writer import OutcomeWriter

OUTAGE = DatabaseUnreachable("postgresql://db/shop")


@pytest.fixture
def batches(storage, monkeypatch):
    """How many ends each statement carried; `fail` makes the next ones raise."""
    batches = Batches()
    write = storage.leases.finish

    async def counted(worker, finishes):
        batches.sizes.append(len(finishes))
        if batches.fail:
            raise batches.fail.pop()
        return await write(worker, finishes)

    monkeypatch.setattr(storage.leases, "finish", counted)
    return batches


class Batches:
    def __init__(self):
        self.sizes = []
        self.fail = []


@pytest.fixture
def recorded():
    return []


@pytest.fixture
async def reports(engine, storage, heard):
    return LogWriter(
        engine.leases(worker=ALDER),
        engine.join,
        Telemetry(heard),
        buffer_lines=100,
        buffer_seconds=5.0,
        redactor=Redactor(),
    )


@pytest.fixture
async def finisher(engine, reports, heard, recorded, batches, monkeypatch):
    monkeypatch.setattr(module, "backoff_seconds", lambda failures: 0.001)
    finisher = OutcomeWriter(
        engine.leases(worker=ALDER), reports, Telemetry(heard), recorded.extend
    )
    yield finisher
    finisher.close()


async def test_outcomes_of_one_moment_are_written_together(finisher, storage, batches, recorded):
    leases = [await started(storage) for _ in range(5)]

    for lease in leases:
        finisher.add(finish(lease))
    await finisher.drain()

    assert batches.sizes == [5]
    assert [end.held for end in recorded] == [held(lease) for lease in leases]


@pytest.mark.parametrize(
    ("error", "state"),
    # Content that no database takes is given up: its lease runs out.
    [(OUTAGE, JobState.COMPLETED), (ZeroDivisionError(), JobState.RUNNING)],
)
async def test_an_outcome_is_written_when_the_database_is_back(
    finisher, storage, batches, recorded, error, state, heard
):
    lease = await started(storage)
    # Content that is refused is tried once more without its text.
    batches.fail = [error] * 5

    finisher.add(finish(lease))
    await until(lambda: len(batches.sizes) > 6 or recorded)
    await finisher.drain()

    assert [end.held for end in recorded] == [held(lease)]
    assert await state_of(storage, lease.job_id) is state
    assert heard.events()


async def test_lines_are_written_before_their_lease_ends(finisher, storage, reports):
    lease = await started(storage)
    with structlog.testing.capture_logs():
        reports.log(lease, "info", "last words", {})

    finisher.add(finish(lease))
    await finisher.drain()

    lines = await storage.jobs.logs(await job(storage, lease.job_id))
    assert [line.message for line in lines] == ["last words"]


async def test_an_outcome_waits_until_its_lines_are_written(
    finisher, storage, reports, batches, monkeypatch
):
    lease = await started(storage)
    reached, go_on = asyncio.Event(), asyncio.Event()
    log = storage.leases.append_logs

    async def slowly(worker, lines):
        reached.set()
        await go_on.wait()
        return await log(worker, lines)

    monkeypatch.setattr(storage.leases, "append_logs", slowly)
    with structlog.testing.capture_logs():
        reports.log(lease, "info", "last words", {})
    flushing = asyncio.create_task(reports.flush())
    await reached.wait()

    finisher.add(finish(lease))
    for _ in range(20):
        await asyncio.sleep(0)
    ended_before_its_lines = list(batches.sizes)
    go_on.set()
    await finisher.drain()
    await flushing

    assert ended_before_its_lines == []
    lines = await storage.jobs.logs(await job(storage, lease.job_id))
    assert [line.message for line in lines] == ["last words"]


async def test_an_outcome_does_not_wait_for_lines_of_other_jobs(
    finisher, storage, reports, recorded, monkeypatch
):
    lease, other = await started(storage), await started(storage)
    reached = asyncio.Event()

    async def hang(worker, lines):
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(storage.leases, "append_logs", hang)
    with structlog.testing.capture_logs():
        reports.log(other, "info", "of a job that goes on", {})
    flushing = asyncio.create_task(reports.flush())
    await reached.wait()

    finisher.add(finish(lease))
    await until(lambda: recorded)

    assert [end.held for end in recorded] == [held(lease)]
    flushing.cancel()


async def test_a_batch_has_limited_size(finisher, storage, batches, monkeypatch):
    monkeypatch.setattr(module, "_MOST_CHARACTERS", 25)
    leases = [await started(storage) for _ in range(5)]

    for lease in leases:
        finisher.add(finish(lease, result=f'"{"x" * 8}"'))
    await finisher.drain()

    assert batches.sizes == [2, 2, 1]


async def test_an_oversized_outcome_is_written_alone(finisher, storage, batches, monkeypatch):
    monkeypatch.setattr(module, "_MOST_CHARACTERS", 1)
    leases = [await started(storage) for _ in range(2)]

    for lease in leases:
        finisher.add(finish(lease, result='"more"'))
    await finisher.drain()

    assert batches.sizes == [1, 1]


async def test_a_job_whose_outcome_is_given_up_stays_running(finisher, storage, batches, recorded):
    lease = await started(storage)
    batches.fail = [OUTAGE] * 1000
    finisher.add(finish(lease))
    await until(lambda: batches.sizes)

    finisher.close()
    await asyncio.sleep(0)

    assert recorded == []
    assert await state_of(storage, lease.job_id) is JobState.RUNNING


async def test_an_outcome_after_close_is_given_up(finisher, storage, batches, recorded):
    lease = await started(storage)
    finisher.close()

    finisher.add(finish(lease))
    await finisher.drain()

    assert (batches.sizes, recorded, finisher.unrecorded) == ([], [], [])
