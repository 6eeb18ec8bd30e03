"""The checks of a journey notice every planted fault."""

import pytest

from tests.journeys.journey import Journey
from tests.support.processes.ledger import LEDGER, Ledger, note
from tests.support.processes.processes import Processes
from windlass import Settings, Windlass
from windlass.core.jobs.models import ALL_TENANTS

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
async def journey(database, tmp_path, monkeypatch):
    """Five jobs that were acknowledged, ran, and completed, all in this process."""
    ledger = Ledger(tmp_path / "ledger")
    monkeypatch.setenv(LEDGER, str(ledger.path))
    wl = Windlass(database.url, settings=Settings())

    @wl.job("quick")
    async def quick(number: int) -> None: ...

    async with wl.running():
        for number in range(5):
            receipt = await quick.enqueue(number=number)
            await wl.jobs.wait(receipt.job_id)
            note("acknowledged", job=receipt.job_id)
            note("done", job=receipt.job_id, fence=1)
    yield Journey(database.url, wl, ledger, Processes(database.url, ledger, tmp_path))
    await wl.close()


@pytest.fixture
def ids(journey):
    return {line["job"] for line in journey.ledger.lines("acknowledged")}


@pytest.fixture
def plant(journey):
    async def run(statement):
        await (await journey.wl.ready()).storage.database.script(f"{statement};\n")

    return run


async def test_a_correct_journey_passes(journey, ids):
    await journey.check_delivery(ids)
    await journey.check_records()


async def test_a_vanished_job_is_noticed(journey, ids, plant):
    await plant("delete from windlass_ended where id = (select min(id) from windlass_ended)")

    with pytest.raises(AssertionError, match="is gone"):
        await journey.check_delivery(ids)


async def test_a_job_that_never_ran_is_noticed(journey, ids):
    lines = journey.ledger.path.read_text().splitlines(keepends=True)
    journey.ledger.path.write_text("".join(lines[:-1]))

    with pytest.raises(AssertionError, match="never ran"):
        await Journey(
            journey.url, journey.wl, Ledger(journey.ledger.path), journey.processes
        ).check_delivery(ids)


async def test_more_runs_than_attempts_are_noticed(journey, ids):
    note("done", job=min(ids), fence=1)

    with pytest.raises(AssertionError, match="ran 2 times"):
        await journey.check_delivery(ids)


async def test_a_stuck_job_is_noticed(journey, ids, plant):
    await journey.wl.enqueue("quick", {"number": 6})
    [stuck] = [job for job in await journey.all_jobs() if not job.ended]

    with pytest.raises(AssertionError, match="is queued"):
        await journey.check_delivery(ids | {str(stuck.id)})


async def test_wrong_counts_are_noticed(journey, plant):
    await (await journey.wl.ready()).storage.monitoring.roll_up_counts()
    await plant("update windlass_counts set completed = completed + 1")

    with pytest.raises(AssertionError):
        await journey.check_records()


async def test_an_attempt_that_is_not_recorded_is_noticed(journey, plant):
    await plant(
        "update windlass_ended set lease_token = 2 where id = (select min(id) from windlass_ended)"
    )

    with pytest.raises(AssertionError, match="an attempt is not recorded"):
        await journey.check_records()


async def test_all_jobs_of_a_journey_are_checked(journey):
    jobs = await journey.all_jobs()

    storage = (await journey.wl.ready()).storage
    assert len(jobs) == sum(
        int(row["completed"]) for row in await storage.jobs.state_counts(ALL_TENANTS)
    )
