"""state_counts, recount, correct_counts and roll_up_counts: totals without a scan."""

import asyncio

from tests.support.job_builders import (
    ACME,
    ALDER,
    MINUTE,
    SECOND,
    a_job,
    a_tenant,
    claim,
    end,
    enqueue,
    finish,
    new_jobs,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey, QueueName
from windlass.storage.jobs.jobs import CountCorrection


async def test_counts_cover_every_state_by_tenant_queue_and_definition(storage):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(3, tenant=ACME, queue=QueueName("mail")))
    await storage.jobs.enqueue(
        new_jobs(2, tenant=ACME, definition=DefinitionKey("other"), held=True)
    )
    for state in JobState:
        await a_job(storage, state, queue=QueueName(f"with {state}"))

    counts = await storage.jobs.state_counts(ALL_TENANTS)
    mine = await storage.jobs.state_counts(Scope(ACME))

    assert {(c["tenant_id"], c["queue"], c["definition"]): by_state(c) for c in counts} == {
        ("acme", "mail", "plain"): {"queued": 3},
        ("acme", "default", "other"): {"pending": 2},
        **{("default", f"with {state}", "plain"): {str(state): 1} for state in JobState},
    }
    assert {c["tenant_id"] for c in mine} == {"acme"}
    assert {c["tenant_id"] for c in (await storage.jobs.recount(Scope(ACME))).counted} == {"acme"}


def by_state(counts):
    return {state: int(counts[state]) for state in JobState if int(counts[state])}


async def test_counts_are_equal_before_and_after_folding(storage):
    await storage.jobs.enqueue(new_jobs(5))
    leases = await claim(storage, 4)
    before = await storage.jobs.state_counts(ALL_TENANTS)

    folded = [await storage.monitoring.roll_up_counts(most=1) for _ in range(4)]
    await end(storage, leases[0])
    after = await storage.jobs.state_counts(ALL_TENANTS)

    assert folded == [1, 1, 0, 0]
    assert by_state(before[0]) == {"queued": 1, "running": 4}
    assert by_state(after[0]) == {"queued": 1, "running": 3, "completed": 1}


async def test_concurrent_folds_count_each_change_once(storage, twin):
    for _ in range(20):
        await enqueue(storage)

    folded = await asyncio.gather(
        *((storage, twin)[n % 2].monitoring.roll_up_counts(most=7) for n in range(6))
    )

    rest = await storage.monitoring.roll_up_counts()
    assert sum(folded) + rest == 20
    assert by_state((await storage.jobs.state_counts(ALL_TENANTS))[0]) == {"queued": 20}


async def test_wrong_totals_are_corrected_by_their_difference(storage):
    await storage.jobs.enqueue(new_jobs(3))
    await storage.monitoring.roll_up_counts()
    await storage.database.query("update windlass_counts set queued = 7, canceled = 2", {})

    before = await storage.jobs.recount(ALL_TENANTS)
    await enqueue(storage)  # moves both sides
    await storage.jobs.correct_counts(
        [
            _missing("default", "default", queued=-4, canceled=-2),
            _missing("acme", "mail", pending=1),
        ]
    )
    after = await storage.jobs.recount(ALL_TENANTS)

    assert [by_state(row) for row in before.kept] == [{"queued": 7, "canceled": 2}]
    assert [by_state(row) for row in before.counted] == [{"queued": 3}]
    assert {row["tenant_id"]: by_state(row) for row in after.kept} == {
        "default": {"queued": 4},
        "acme": {"pending": 1},
    }
    assert [by_state(row) for row in after.counted] == [{"queued": 4}]
    await storage.jobs.correct_counts([_missing("acme", "mail", pending=-1)])


def _missing(tenant, queue, **missing):
    return CountCorrection(tenant=tenant, queue=queue, definition="plain", missing=missing)


async def test_throughput_is_counted_by_minute(storage, clock):
    await storage.jobs.enqueue(new_jobs(4))
    await clock.advance(10 * SECOND)
    first, second, *rest = await claim(storage, 4)
    await clock.advance(2 * SECOND)
    await storage.leases.finish(ALDER, [finish(first), finish(second, JobState.QUEUED)])
    await clock.advance(MINUTE)
    await storage.leases.finish(ALDER, [finish(one, JobState.DEAD_LETTER) for one in rest])
    while await storage.monitoring.roll_up_counts():
        pass

    rows = await storage.database.query(
        "select enqueued, started, succeeded, failed, completed, dead_letter, run_ms, wait_ms "
        "from windlass_minutes order by minute",
        {},
    )

    assert [{name: int(row[name]) for name in row.keys()} for row in rows] == [  # noqa: SIM118
        {
            "enqueued": 4,
            "started": 4,
            "succeeded": 1,
            "failed": 1,
            "completed": 1,
            "dead_letter": 0,
            "run_ms": 4000,
            "wait_ms": 40_000,
        },
        {
            "enqueued": 0,
            "started": 0,
            "succeeded": 0,
            "failed": 2,
            "completed": 0,
            "dead_letter": 2,
            "run_ms": 124_000,
            "wait_ms": 0,
        },
    ]
