"""append_logs, logs and prune_logs: a job's lines, numbered across its attempts."""

import asyncio

from tests.support.job_builders import (
    ALDER,
    HOUR,
    MINUTE,
    SECOND,
    START,
    a_tenant,
    claim,
    end,
    enqueue,
    job,
    lease_of,
    log_line,
    new_jobs,
    release,
    rows_of,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import LeaseRef
from windlass.ids import DefinitionKey


async def lines_of(storage, id, **which):
    return await storage.jobs.logs(await job(storage, id), **which)


async def test_a_line_reads_back_as_it_was_written(storage):
    tenant = await a_tenant(storage, "acme")
    lease = await started(storage, tenant=tenant, definition=DefinitionKey("other"))
    fields = {"n": 2**70, "text": "𝄞", "list": [1, None], "x": 0.1}

    stored = await storage.leases.append_logs(
        ALDER,
        [log_line(lease, "sent\n\t'it' – 😀", level="warn", fields=fields, at=START + SECOND)],
    )

    [line] = await lines_of(storage, lease.job_id)
    assert stored == {lease.job_id}
    assert (line.job_id, line.attempt, line.sequence) == (lease.job_id, lease.token, 1)
    assert (line.level, line.message, line.at) == ("warn", "sent\n\t'it' – 😀", START + SECOND)
    assert line.fields == fields
    assert (line.tenant, line.definition) == (tenant, "other")


async def test_every_level_can_be_stored(storage):
    lease = await started(storage)
    levels = ["debug", "info", "warn", "error"]

    await storage.leases.append_logs(
        ALDER, [log_line(lease, level, level=level) for level in levels]
    )

    assert [line.level for line in await lines_of(storage, lease.job_id)] == levels


async def test_lines_are_numbered_across_flushes_and_attempts(storage):
    lease = await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(lease, "one"), log_line(lease, "two")])
    await storage.leases.append_logs(ALDER, [log_line(lease, "three")])
    await end(storage, lease, JobState.QUEUED)
    lease = await lease_of(storage, lease.job_id)
    await storage.leases.append_logs(ALDER, [log_line(lease, "four")])
    await storage.leases.finish(ALDER, [release(lease)])
    lease = await lease_of(storage, lease.job_id)
    await storage.leases.append_logs(ALDER, [log_line(lease, "five")])
    await end(storage, lease, JobState.DEAD_LETTER)
    await storage.jobs.retry(ALL_TENANTS, lease.job_id)
    lease = await lease_of(storage, lease.job_id)

    await storage.leases.append_logs(ALDER, [log_line(lease, "six")])

    lines = await lines_of(storage, lease.job_id)
    assert [line.message for line in lines] == ["one", "two", "three", "four", "five", "six"]
    assert [line.sequence for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [line.attempt for line in lines] == [1, 1, 1, 2, 3, 4]


async def test_lines_keep_the_order_of_their_flush_regardless_of_their_times(storage):
    lease = await started(storage)

    await storage.leases.append_logs(
        ALDER, [log_line(lease, str(n), at=START - n * SECOND) for n in range(50)]
    )

    assert [line.message for line in await lines_of(storage, lease.job_id)] == [
        str(n) for n in range(50)
    ]


async def test_lines_of_several_jobs_in_one_flush_are_numbered_separately(storage):
    leases = [await started(storage) for _ in range(3)]

    stored = await storage.leases.append_logs(
        ALDER, [log_line(lease, f"{lease.job_id} {n}") for n in range(4) for lease in leases]
    )

    assert stored == {lease.job_id for lease in leases}
    for lease in leases:
        lines = await lines_of(storage, lease.job_id)
        assert [line.message for line in lines] == [f"{lease.job_id} {n}" for n in range(4)]
        assert [line.sequence for line in lines] == [1, 2, 3, 4]


async def test_a_stale_token_adds_no_line(storage):
    first = await started(storage)
    await storage.leases.finish(ALDER, [release(first)])
    second = await lease_of(storage, first.job_id)
    other = await started(storage)

    stored = await storage.leases.append_logs(
        ALDER,
        [
            log_line(first, "late"),
            log_line(second, "mine"),
            log_line(first, "late again"),
            log_line(other, "its own"),
        ],
    )

    assert stored == {first.job_id, other.job_id}
    lines = await lines_of(storage, first.job_id)
    assert [(line.message, line.attempt, line.sequence) for line in lines] == [("mine", 2, 1)]


async def test_a_job_that_is_not_running_gets_no_line(storage):
    queued = await enqueue(storage)
    ended = await started(storage)
    await end(storage, ended)

    stored = await storage.leases.append_logs(
        ALDER, [log_line(LeaseRef(queued, 0), "a"), log_line(ended, "b")]
    )

    assert stored == set()
    assert await lines_of(storage, queued) == await lines_of(storage, ended.job_id) == []
    assert await storage.leases.append_logs(ALDER, []) == set()


async def test_lines_are_read_from_a_number_on(storage):
    lease = await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(lease, str(n)) for n in range(1, 11)])

    assert [line.sequence for line in await lines_of(storage, lease.job_id, after=7)] == [8, 9, 10]
    assert [line.sequence for line in await lines_of(storage, lease.job_id, limit=2)] == [1, 2]
    assert await lines_of(storage, lease.job_id, after=10) == []


async def test_many_long_lines_are_stored_in_one_flush(storage):
    lease = await started(storage)

    await storage.leases.append_logs(
        ALDER, [log_line(lease, f"{n} " + "ü" * 8000) for n in range(100)]
    )

    lines = await lines_of(storage, lease.job_id)
    assert [len(line.message) for line in lines] == [len(f"{n} ") + 8000 for n in range(100)]


async def test_concurrent_flushes_number_each_line(storage, twin):
    lease = await started(storage)

    await asyncio.gather(
        *(
            (storage if n % 2 else twin).leases.append_logs(
                ALDER, [log_line(lease, f"{n} {m}") for m in range(3)]
            )
            for n in range(10)
        )
    )

    lines = await lines_of(storage, lease.job_id)
    assert [line.sequence for line in lines] == list(range(1, 31))
    assert len({line.message for line in lines}) == 30


async def test_lines_stay_with_a_job_that_has_ended(storage):
    lease = await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(lease, "done")])

    await end(storage, lease)

    assert [line.message for line in await lines_of(storage, lease.job_id)] == ["done"]


async def test_old_lines_of_a_definition_are_pruned_in_batches(storage, clock):
    await storage.jobs.enqueue(new_jobs(2))
    mine, other = await claim(storage, 2)
    foreign = await started(storage, definition=DefinitionKey("other"))
    await storage.leases.append_logs(
        ALDER, [log_line(mine, f"old {n}", at=START) for n in range(4)]
    )
    await storage.leases.append_logs(ALDER, [log_line(other, "young", at=START + HOUR)])
    await storage.leases.append_logs(ALDER, [log_line(foreign, "old too", at=START)])
    await clock.advance(HOUR + MINUTE)

    steps = [await storage.monitoring.prune_logs("plain", days=1 / 24, most=3) for _ in range(3)]

    assert steps == [3, 1, 0]
    assert await rows_of(storage, "windlass_logs", "job_id", mine.job_id) == 0
    assert await rows_of(storage, "windlass_logs", "job_id", other.job_id) == 1
    assert await rows_of(storage, "windlass_logs", "job_id", foreign.job_id) == 1


async def test_line_numbers_continue_after_pruning(storage, clock):
    lease = await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(lease, "old"), log_line(lease, "old")])
    await clock.advance(HOUR)
    await storage.monitoring.prune_logs("plain", days=0)

    await storage.leases.append_logs(ALDER, [log_line(lease, "new", at=clock.now)])

    assert [line.sequence for line in await lines_of(storage, lease.job_id)] == [3]
