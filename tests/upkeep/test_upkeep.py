"""The upkeep loops together."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.support.job_builders import (
    ALDER,
    KNOWN,
    a_definition,
    claim,
    enqueue,
    enqueue_child,
    finish,
    ids_in,
    lease_of,
    new_job,
    regate,
)
from windlass.core.access.principal import local
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.upkeep.housekeeping import GateUpdater, Housekeeping, Sweeper
from windlass.upkeep.upkeep import Upkeep, look_seconds


@given(st.integers(1, 60))
def test_a_dead_workers_job_starts_again_within_one_and_a_half_leases(lease):
    # The lease, the wait for a first look, the second look, the wait for it, and a poll of a
    # worker on a database without nudges; loops are up to a tenth late.
    look = 1.1 * look_seconds(timedelta(seconds=lease))
    most = lease + look + lease / 3 + look

    assert most <= 1.5 * lease + 0.2


async def test_housekeeping_ends_children_of_a_parent_that_failed_unseen(engine, storage):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent)
    await storage.jobs.cancel(ALL_TENANTS, [parent])

    done = await Housekeeping(engine).tick()

    assert done >= 1
    assert child in await ids_in(storage, JobState.CANCELED)


async def test_housekeeping_admits_a_child_that_was_stored_while_its_parent_ended(engine, storage):
    parent = await enqueue(storage)
    lease = await lease_of(storage, parent)
    child = new_job(after=(parent,))
    await storage.leases.finish(ALDER, [finish(lease)])
    await storage.jobs.enqueue([child])
    assert child.id in await ids_in(storage, JobState.PENDING)

    await Housekeeping(engine).tick()

    assert child.id in await ids_in(storage, JobState.QUEUED)


async def test_housekeeping_rolls_up_the_counts(engine, storage):
    await enqueue(storage)

    await Housekeeping(engine).tick()

    assert await storage.monitoring.roll_up_counts() == 0
    assert sum(int(row["queued"]) for row in await storage.jobs.state_counts(ALL_TENANTS)) == 1


async def test_a_job_behind_an_outdated_gate_is_moved(engine, storage):
    id = await enqueue(storage)
    # As if a process had died between the change and the move.
    await a_definition(storage, "plain", max_concurrency=5, code_hash="2")
    assert await claim(storage, known=KNOWN) == []

    await GateUpdater(engine).tick()

    assert [lease.job_id for lease in await claim(storage, known=KNOWN)] == [id]


async def test_the_sweeper_deletes_unused_rows_and_keeps_history(engine, storage, clock):
    await clock.set(datetime.now(UTC))  # ids carry the time of their making
    await a_definition(storage, "kept", retention_days=1.0)
    await a_definition(storage, "fleeting", retention_days=0.0)
    for key in ("kept", "fleeting"):
        for _ in range(3):
            id = await enqueue(storage, definition=key)
            await storage.jobs.cancel(ALL_TENANTS, [id])
    window = await enqueue(storage, dedupe_key="once", dedupe_window=timedelta(minutes=1))
    await storage.jobs.cancel(ALL_TENANTS, [window])
    await clock.advance(timedelta(days=2))

    gone = await Sweeper(engine).tick()

    left = (await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=50)).jobs
    assert gone == 4, "three jobs and a key"
    assert sorted(job.definition for job in left) == ["kept", "kept", "kept", "plain"]


async def test_updating_correct_gates_changes_nothing(engine, storage):
    id = await enqueue(storage)

    await GateUpdater(engine).tick()
    await regate(storage)

    assert [lease.job_id for lease in await claim(storage)] == [id]


async def test_upkeep_runs_bulk_operations(engine, storage):
    id = await enqueue(storage)
    await engine.operations.create(local(), "cancel", JobQuery(), query="")

    await Upkeep(engine, lease_time=timedelta(seconds=30)).tick()

    assert id in await ids_in(storage, JobState.CANCELED)
