"""prune, prune_by_count and prune_orphaned_logs: old ended jobs are deleted with their related rows."""

from uuid import UUID

from tests.support.job_builders import (
    ALDER,
    DAY,
    HOUR,
    KNOWN,
    SECOND,
    a_job,
    claim,
    end,
    enqueue,
    enqueue_child,
    finish,
    lease_of,
    log_line,
    new_job,
    new_jobs,
    offer,
    rows_of,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import ENDED, OPEN, JobState
from windlass.ids import DefinitionKey, JobId


def _now_id() -> JobId:
    """An id newer than every job created so far."""
    return new_job().id


async def prune(storage, days=1.0, **how):
    return await storage.monitoring.prune("plain", days=days, **{"before_id": _now_id()} | how)


async def test_ended_jobs_are_pruned_after_their_retention(storage, clock):
    old = [await a_job(storage, state) for state in sorted(ENDED)]
    await clock.advance(DAY)
    young = [await a_job(storage, state) for state in sorted(ENDED)]

    at_once = await prune(storage)
    await clock.advance(SECOND)
    later = await prune(storage)

    assert (at_once, later) == (0, 3)
    assert await storage.jobs.existing_job_ids([one.id for one in old + young]) == {
        one.id for one in young
    }


async def test_open_jobs_are_never_pruned(storage, clock):
    jobs = [await a_job(storage, state) for state in sorted(OPEN)]
    delayed = await enqueue(storage, delay=1000 * DAY)
    await clock.advance(900 * DAY)

    assert await prune(storage, days=0) == 0
    assert await storage.monitoring.prune_by_count("plain", keep=0) == 0
    assert len(await storage.jobs.existing_job_ids([delayed, *(one.id for one in jobs)])) == 4


async def test_retention_counts_from_the_end_of_the_job(storage, clock):
    lease = await started(storage)
    await clock.advance(10 * DAY)
    await end(storage, lease)
    await clock.advance(HOUR)

    assert await prune(storage) == 0


async def test_only_the_given_definition_is_pruned(storage, clock):
    other = await a_job(storage, JobState.COMPLETED, definition=DefinitionKey("other"))
    await a_job(storage, JobState.COMPLETED)
    await clock.advance(10 * DAY)

    assert await prune(storage) == 1
    assert await storage.jobs.existing_job_ids([other.id]) == {other.id}


async def test_dead_letters_can_be_excluded(storage, clock):
    dead = await a_job(storage, JobState.DEAD_LETTER)
    await a_job(storage, JobState.COMPLETED)
    await clock.advance(10 * DAY)

    assert await prune(storage, spare_dead=True) == 1
    assert await prune(storage, spare_dead=True) == 0
    assert await state_of(storage, dead.id) is JobState.DEAD_LETTER
    assert await prune(storage) == 1


async def test_jobs_newer_than_the_given_id_are_not_scanned(storage, clock):
    old = await a_job(storage, JobState.COMPLETED)
    bound = _now_id()
    young = await a_job(storage, JobState.COMPLETED)
    await clock.advance(10 * DAY)

    assert await prune(storage, before_id=bound) == 1
    assert await storage.jobs.existing_job_ids([old.id, young.id]) == {young.id}


async def test_pruning_runs_in_batches(storage, clock):
    await storage.jobs.enqueue(new_jobs(7))
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim(storage, 7)])
    await clock.advance(10 * DAY)

    assert [await prune(storage, most=3) for _ in range(4)] == [3, 3, 1, 0]


async def test_a_jobs_related_rows_are_pruned_with_it(storage, clock):
    parent = await a_job(storage, JobState.COMPLETED, definition=DefinitionKey("other"))
    child = await enqueue_child(storage, parent.id, dedupe_key="d", idempotency_key="i", **WINDOW)
    lease = await lease_of(storage, child)
    await storage.leases.append_logs(ALDER, [log_line(lease, "a line")])
    await end(storage, lease, JobState.DEAD_LETTER, exit_code=1)
    await storage.jobs.retry(ALL_TENANTS, child, actor="ada")
    await end(storage, await lease_of(storage, child), exit_code=0)
    await clock.advance(2 * DAY)

    assert await prune(storage) == 1

    for table in ("attempts", "transitions", "logs", "keys"):
        assert await rows_of(storage, f"windlass_{table}", "job_id", child) == 0, table
    assert await rows_of(storage, "windlass_parents", "child_id", child) == 0
    assert (await offer(storage, new_job(idempotency_key="i"))).status == "created"


WINDOW = {"dedupe_window": HOUR}


async def test_pruning_by_count_keeps_the_newest_of_a_definition(storage):
    ended = [await a_job(storage, sorted(ENDED)[n % 3]) for n in range(7)]
    other = await a_job(storage, JobState.COMPLETED, definition=DefinitionKey("other"))
    queued = await enqueue(storage)

    pruned = await storage.monitoring.prune_by_count("plain", keep=3)

    assert pruned == 4
    kept = {one.id for one in ended[-3:]} | {other.id, queued}
    assert (
        await storage.jobs.existing_job_ids([*(one.id for one in ended), other.id, queued]) == kept
    )
    assert await storage.monitoring.prune_by_count("plain", keep=3) == 0


async def test_pruning_by_count_runs_in_batches_down_to_none(storage):
    await storage.jobs.enqueue(new_jobs(7))
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim(storage, 7)])

    assert [await storage.monitoring.prune_by_count("plain", keep=2, most=3) for _ in range(3)] == [
        3,
        2,
        0,
    ]
    assert await storage.monitoring.prune_by_count("plain", keep=0) == 2
    assert await storage.monitoring.prune_by_count("plain", keep=0) == 0


async def test_pruning_by_count_below_the_limit_prunes_nothing(storage):
    await a_job(storage, JobState.COMPLETED)

    assert await storage.monitoring.prune_by_count("plain", keep=100) == 0


async def test_a_jobs_related_rows_are_pruned_by_count_with_it(storage):
    lease = await started(storage, idempotency_key="i")
    await storage.leases.append_logs(ALDER, [log_line(lease, "a line")])
    await end(storage, lease, exit_code=0)

    assert await storage.monitoring.prune_by_count("plain", keep=0) == 1

    for table in ("attempts", "logs", "keys"):
        assert await rows_of(storage, f"windlass_{table}", "job_id", lease.job_id) == 0, table


async def test_a_definition_outlives_its_jobs(storage, clock):
    await a_job(storage, JobState.COMPLETED)
    await clock.advance(100 * DAY)
    await prune(storage)

    assert {d.key for d in await storage.definitions.definitions()} == set(KNOWN)


async def test_only_lines_without_a_job_are_pruned_as_orphans(storage):
    leases = [await started(storage) for _ in range(5)]
    await storage.leases.append_logs(
        ALDER, [log_line(lease, f"line {n}") for lease in leases for n in range(2)]
    )
    await storage.leases.finish(ALDER, [finish(lease) for lease in leases[:3]])
    await storage.leases.finish(ALDER, [finish(leases[3], JobState.QUEUED, delay=DAY)])
    strays = [new_job().id for _ in range(2)]
    for lease, stray in zip(leases, strays, strict=False):
        await storage.database.query(
            "update windlass_logs set job_id = :stray where job_id = :id",
            {"stray": stray, "id": lease.job_id},
        )

    steps, cursor = [], JobId(UUID(int=0))
    while cursor is not None:
        pruned, cursor = await storage.monitoring.prune_orphaned_logs(cursor, most=2)
        steps.append(pruned)

    assert steps == [0, 2, 2, 0]
    for id in strays:
        assert await rows_of(storage, "windlass_logs", "job_id", id) == 0
    for lease in leases[2:]:
        assert await rows_of(storage, "windlass_logs", "job_id", lease.job_id) == 2
