"""Guards of leases: only the worker that holds a lease, by its current token, changes anything."""

from collections.abc import Mapping
from typing import Any

from tests.conformance.leases.finish_paths import WAYS
from tests.support.job_builders import (
    ALDER,
    LEASE_TIME,
    SECOND,
    World,
    as_uuid,
    end,
    held,
    job,
    lease_of,
    log_line,
    release,
    started,
    tables_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport
from windlass.ids import JobId, WorkerId

BIRCH = WorkerId("birch")
#: Worker names that must be told apart from ALDER, whatever a database takes as equal.
NEARLY_ALDER = (BIRCH, WorkerId("Alder"), WorkerId("alder "), WorkerId("åłder"))


async def stored(world: World, id: JobId) -> Mapping[str, Any]:
    """All that is stored of a job."""
    tables = await tables_of(world.storage, id)
    return {
        table: [
            dict(row)
            for row in await world.storage.database.query(
                f"select * from windlass_{table} where {column} = :id", {"id": id}
            )
        ]
        for table, column in (
            *[(name.removeprefix("windlass_"), "id") for name in tables],
            ("attempts", "job_id"),
            ("logs", "job_id"),
            ("keys", "job_id"),
            ("holds", "job_id"),
        )
    }


async def retaken(world: World) -> tuple[Lease, Lease]:
    """A lease that was given back, and the lease the same worker has of that job now."""
    first = await started(world.storage)
    await world.storage.leases.finish(ALDER, [release(first)])
    return first, await lease_of(world.storage, first.job_id)


async def test_a_stale_token_records_no_end(world):
    for way, finish_by in WAYS.items():
        stale, current = await retaken(world)
        before = await stored(world, current.job_id)

        for token in (stale.token, current.token + 1, 0):
            assert await finish_by(world, ALDER, LeaseRef(current.job_id, token)) == {}, way

        assert await stored(world, current.job_id) == before, way
        assert await end(world.storage, current) is JobState.COMPLETED


async def test_another_worker_records_no_end(world):
    for way, finish_by in WAYS.items():
        lease = await started(world.storage)
        before = await stored(world, lease.job_id)

        for other in NEARLY_ALDER:
            assert await finish_by(world, other, held(lease)) == {}, (way, other)

        assert await stored(world, lease.job_id) == before, way
        assert await end(world.storage, lease) is JobState.COMPLETED


async def test_the_holder_records_the_end_once(world):
    for way, finish_by in WAYS.items():
        lease = await started(world.storage)

        assert list(await finish_by(world, ALDER, held(lease))) == [held(lease)], way
        assert await tables_of(world.storage, lease.job_id) != ["windlass_live"], way
        assert await finish_by(world, ALDER, held(lease)) == {}, way


async def test_a_queued_job_gets_no_end(world):
    for way, finish_by in WAYS.items():
        first = await started(world.storage)
        await world.storage.leases.finish(ALDER, [release(first)])
        await world.storage.leases.promote()
        before = await stored(world, first.job_id)

        assert await finish_by(world, ALDER, held(first)) == {}, way

        assert await stored(world, first.job_id) == before, way
        assert await end(world.storage, await lease_of(world.storage, first.job_id)) is not None


async def test_only_the_holder_renews(world, clock):
    stale, current = await retaken(world)
    before = await stored(world, current.job_id)
    await clock.advance(SECOND)

    for worker, lease in [(ALDER, stale), *((other, current) for other in NEARLY_ALDER)]:
        assert await world.storage.leases.renew(worker, [held(lease)], lease_time=LEASE_TIME) == []

    assert await stored(world, current.job_id) == before
    assert await world.storage.leases.renew(ALDER, [held(current)], lease_time=LEASE_TIME)


async def test_only_the_holder_reports_progress(world):
    stale, current = await retaken(world)
    before = await stored(world, current.job_id)

    for worker, lease in [(ALDER, stale), *((other, current) for other in NEARLY_ALDER)]:
        step = ProgressReport(job_id=lease.job_id, token=lease.token, fraction=0.5, note="theirs")
        assert await world.storage.leases.record_progress(worker, [step]) == set()

    assert await stored(world, current.job_id) == before


async def test_only_the_holder_logs(world):
    stale, current = await retaken(world)
    before = await stored(world, current.job_id)

    for worker, lease in [(ALDER, stale), *((other, current) for other in NEARLY_ALDER)]:
        assert await world.storage.leases.append_logs(worker, [log_line(lease, "theirs")]) == set()

    assert await stored(world, current.job_id) == before
    await world.storage.leases.append_logs(ALDER, [log_line(current, "mine")])
    found = await world.storage.database.query("select job_id from windlass_logs", {})
    assert [as_uuid(row["job_id"]) for row in found] == [current.job_id]


async def test_only_the_holder_receives_the_stop_request(world):
    stale, current = await retaken(world)
    await world.storage.jobs.cancel(ALL_TENANTS, [current.job_id])

    assert await world.storage.leases.cancel_requests(ALDER, [held(stale)]) == set()
    for other in NEARLY_ALDER:
        assert await world.storage.leases.cancel_requests(other, [held(current)]) == set()
    assert await world.storage.leases.cancel_requests(ALDER, [held(current)]) == {current.job_id}


async def test_an_expired_lease_is_reaped_whichever_worker_held_it(world, clock):
    leases = [await started(world.storage, by=worker) for worker in (ALDER, BIRCH)]
    await clock.advance(LEASE_TIME)

    reaped = await world.storage.leases.reap([release(lease) for lease in leases])

    assert set(reaped) == {held(lease) for lease in leases}
    assert (await job(world.storage, leases[0].job_id)).state is JobState.QUEUED
