"""What happened over time: by slot, definition, queue and tenant; from minutes and longer slots."""

from datetime import timedelta

from tests.support.job_builders import (
    ACME,
    ALDER,
    GLOBEX,
    HOUR,
    MINUTE,
    SECOND,
    START,
    a_job,
    a_tenant,
    claim,
    end,
    finish,
    new_jobs,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope, WorkerRow
from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import Observation
from windlass.core.monitoring.slots import StoredSlot, plan_slots
from windlass.core.monitoring.summary import StatsPoint, WorkerUse
from windlass.engine.monitoring.summaries import most_failing
from windlass.ids import DefinitionKey, QueueName, WorkerId

QUARTER = timedelta(minutes=15)


async def planned(storage, since=START, slot=5 * MINUTE):
    marks = await storage.monitoring.rollup_marks()
    return plan_slots(since, await storage.now(), slot, marks)


async def roll_up(storage, span=900, of_span=60, at=START):
    """Make one slot, and note that it is made."""
    await storage.monitoring.roll_up_counts()
    await storage.monitoring.roll_up_slot(StoredSlot(span, at), of_span=of_span)
    await storage.monitoring.set_rollup_mark(span, at + timedelta(seconds=span))


async def test_throughput_is_per_slot_before_and_after_folding(storage, clock):
    await storage.jobs.enqueue(new_jobs(4))
    first, second, *rest = await claim(storage, 4)
    await clock.advance(2 * SECOND)
    await storage.leases.finish(ALDER, [finish(first), finish(second, JobState.QUEUED)])
    await storage.monitoring.roll_up_counts()
    await clock.advance(10 * MINUTE)
    await storage.leases.finish(ALDER, [finish(one, JobState.DEAD_LETTER) for one in rest])

    found = await storage.monitoring.throughput(ALL_TENANTS, await planned(storage))

    assert found == {
        START: StatsPoint(
            START,
            enqueued=4,
            started=4,
            succeeded=1,
            failed=1,
            completed=1,
            run_ms=4000,
            waiting_change=1,
            running_change=2,
        ),
        START + 10 * MINUTE: StatsPoint(
            START + 10 * MINUTE, failed=2, dead_letter=2, run_ms=2 * 602_000, running_change=-2
        ),
    }


async def test_throughput_respects_scope_span_and_filters(storage, clock):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(2, tenant=ACME, queue=QueueName("mail")))
    await clock.advance(HOUR)
    await storage.jobs.enqueue(new_jobs(3, definition=DefinitionKey("other")))

    async def enqueued(scope=ALL_TENANTS, since=START, **which):
        plan = await planned(storage, since)
        points = await storage.monitoring.throughput(scope, plan, **which)
        return sum(point.enqueued for point in points.values())

    assert await enqueued() == 5
    assert await enqueued(since=START + MINUTE) == 3
    assert await enqueued(Scope(ACME)) == 2
    assert await enqueued(queue="mail") == 2
    assert await enqueued(definition="other") == 3
    assert await enqueued(Scope(ACME), definition="other") == 0


async def test_made_slots_count_what_their_minutes_do(storage, clock):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(2, tenant=ACME, queue=QueueName("mail")))
    await clock.advance(7 * MINUTE)
    await end(storage, await started(storage), JobState.DEAD_LETTER)
    await clock.advance(8 * MINUTE)
    await storage.jobs.enqueue(new_jobs(1, tenant=ACME, queue=QueueName("mail")))
    verbs = storage.monitoring

    async def read():
        plan = await planned(storage, slot=QUARTER)
        return plan, [
            await verbs.throughput(ALL_TENANTS, plan),
            await verbs.throughput(Scope(ACME), plan),
            await verbs.throughput(ALL_TENANTS, plan, queue="mail"),
            await verbs.throughput_by_definition(ALL_TENANTS, plan),
            await verbs.throughput_by_queue(ALL_TENANTS, plan, ["mail", "default"]),
            await verbs.throughput_by_tenant(plan, [ACME]),
        ]

    _, before = await read()
    await roll_up(storage)
    await roll_up(storage)
    plan, after = await read()

    assert plan.made == [StoredSlot(900, START)]
    assert plan.minutes_since == START + QUARTER
    assert after == before
    assert before[1] == {
        START: StatsPoint(START, enqueued=2, waiting_change=2),
        START + QUARTER: StatsPoint(START + QUARTER, enqueued=1, waiting_change=1),
    }


async def test_slots_of_slots_have_the_same_counts_and_latencies(storage, clock):
    await a_tenant(storage, "acme")
    for _ in range(2):
        await storage.jobs.enqueue(new_jobs(2, tenant=ACME))
        await storage.monitoring.record_latency(observed("") + observed("acme"))
        await clock.advance(QUARTER)
    for number in range(8):
        await roll_up(storage, at=START + number * QUARTER)
    await roll_up(storage, 7200, 900)
    await clock.advance(2 * HOUR)

    plan = await planned(storage, slot=2 * HOUR)
    for scope in (ALL_TENANTS, Scope(ACME)):
        counts = await storage.monitoring.throughput(scope, plan)
        latencies = await storage.monitoring.latency_by_slot(scope, plan)

        assert {at: point.enqueued for at, point in counts.items()} == {START: 4}
        assert latencies[START].wait.observed == {5: 4}
        assert latencies[START].wait.longest == 0.004
    assert plan.made == [StoredSlot(7200, START)]


async def test_a_mark_never_goes_back(storage):
    await storage.monitoring.set_rollup_mark(900, START + HOUR)
    await storage.monitoring.set_rollup_mark(900, START)

    assert await storage.monitoring.rollup_marks() == {900: START + HOUR}


async def test_the_first_minute_is_the_earliest_with_counts(storage, clock):
    before = await storage.monitoring.first_minute()
    await clock.advance(90 * SECOND)
    await storage.jobs.enqueue(new_jobs(1))
    await storage.monitoring.roll_up_counts()

    assert (before, await storage.monitoring.first_minute()) == (None, START + MINUTE)


async def test_old_slots_are_pruned_one_by_one(storage, clock):
    await storage.jobs.enqueue(new_jobs(1))
    await roll_up(storage)
    await clock.advance(QUARTER)
    await storage.jobs.enqueue(new_jobs(1))
    await roll_up(storage, at=START + QUARTER)
    await clock.advance(HOUR)

    young = await storage.monitoring.prune_rollups(900, days=1)
    old = [await storage.monitoring.prune_rollups(900, days=0.01) for _ in range(3)]

    # Each slot has a row of the tenant, and one of all.
    assert (young, old) == (0, [2, 2, 0])


async def test_failing_definitions_come_with_the_most_failures_first(storage):
    for definition, times in (("plain", 1), ("other", 2)):
        for _ in range(times):
            lease = await started(storage, definition=DefinitionKey(definition))
            await end(storage, lease, JobState.DEAD_LETTER)
    await a_job(storage, JobState.COMPLETED)

    plan = await planned(storage)
    found = most_failing(await storage.monitoring.throughput_by_definition(ALL_TENANTS, plan))
    acme = await storage.monitoring.throughput_by_definition(Scope.of("acme"), plan)

    assert [tuple(each) for each in found] == [("other", 2, 2, 0), ("plain", 1, 1, 1)]
    assert acme == {}


async def test_the_tenants_named_are_counted_apart(storage, clock):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(2, tenant=ACME))
    await storage.monitoring.roll_up_counts()
    await clock.advance(HOUR)
    lease = await started(storage, tenant=ACME)
    await clock.advance(2 * SECOND)
    await storage.leases.finish(ALDER, [finish(lease)])
    await storage.jobs.enqueue(new_jobs(3))

    plan = await planned(storage, slot=HOUR)
    found = await storage.monitoring.throughput_by_tenant(plan, [ACME, GLOBEX])

    assert {
        name: {at: (p.enqueued, p.started, p.completed, p.run_ms) for at, p in points.items()}
        for name, points in found.items()
    } == {"acme": {START: (2, 0, 0, 0), START + HOUR: (1, 1, 1, 2000)}}
    whole = await storage.monitoring.throughput_by_tenant(plan, [ACME], by_slot=False)
    assert [point.enqueued for point in whole["acme"].values()] == [3]


async def test_the_busiest_tenants_come_first(storage, clock):
    for tenant, seconds in ((ACME, 2), (GLOBEX, 5)):
        await a_tenant(storage, tenant)
        lease = await started(storage, tenant=tenant)
        await clock.advance(seconds * SECOND)
        await storage.leases.finish(ALDER, [finish(lease)])
    verbs = storage.monitoring

    for _ in range(2):
        plan = await planned(storage, slot=QUARTER)
        assert await verbs.busiest_tenants(ALL_TENANTS, plan, most=5) == [GLOBEX, ACME]
        assert await verbs.busiest_tenants(ALL_TENANTS, plan, most=1) == [GLOBEX]
        assert await verbs.busiest_tenants(Scope(ACME), plan, most=5) == [ACME]
        await clock.advance(QUARTER)
        await roll_up(storage)


async def test_latencies_are_apart_by_slot_tenant_and_definition(storage, clock):
    verbs = storage.monitoring
    await verbs.record_latency(observed("") + observed("acme") + observed("", "other"))
    await clock.advance(QUARTER)
    await verbs.record_latency(observed("") + observed("globex"))

    plan = await planned(storage, slot=QUARTER)
    every = await verbs.latency_by_slot(ALL_TENANTS, plan)
    acme = await verbs.latency_by_slot(Scope(ACME), plan)
    other = await verbs.latency_by_slot(ALL_TENANTS, plan, definition="other", queue="mail")
    definitions = await verbs.latency_by_definition(ALL_TENANTS, plan, ["send", "none"])
    tenants = await verbs.latency_by_tenant(plan, [ACME, GLOBEX])

    assert {at: pair.wait.count for at, pair in every.items()} == {START: 4, START + QUARTER: 2}
    assert {at: pair.wait.count for at, pair in acme.items()} == {START: 2}
    assert {at: pair.wait.count for at, pair in other.items()} == {START: 2}
    assert {name: pair.wait.count for name, pair in definitions.items()} == {"send": 4}
    assert {name: pair.wait.count for name, pair in tenants.items()} == {"acme": 2, "globex": 2}
    assert all(pair.run.count == 0 for pair in every.values())


async def test_the_use_of_workers_is_noted_once_a_minute(storage, clock):
    await beat(storage, "oak", slots=8, slots_used=3)
    await clock.advance(25 * SECOND)
    await beat(storage, "elm", slots=4, slots_used=4)
    await storage.monitoring.record_worker_use()
    await storage.monitoring.record_worker_use()
    await clock.advance(MINUTE)
    await storage.monitoring.record_worker_use()

    minutes = [StoredSlot(60, START + n * MINUTE) for n in range(3)]
    noted = await storage.monitoring.worker_use(minutes)
    mean = await storage.monitoring.worker_use([StoredSlot(900, START)])
    await clock.advance(HOUR - MINUTE)
    pruned = await storage.monitoring.prune_worker_minutes(days=1 / 24)

    # The first has missed two heartbeats, and then both have.
    assert noted == [WorkerUse(START, 1, 4, 4), WorkerUse(START + MINUTE, 0, 0, 0)]
    assert mean == [WorkerUse(START, 0.5, 2, 2)]
    assert (pruned, len(await storage.monitoring.worker_use(minutes))) == (1, 1)


async def beat(storage, name, **slots):
    row = WorkerRow(
        id=WorkerId(name),
        hostname="host",
        pid=1,
        version="1",
        queues=["default"],
        definitions=["plain"],
        **slots,
    )
    await storage.leases.worker_heartbeat(row)


def observed(tenant, definition="send"):
    """Two waits of a tenant, of all if empty, and the longest of them."""
    return [
        Observation("wait", "mail", definition, 0, 0, 0.004, tenant),
        Observation("wait", "mail", definition, 5, 2, 0.006, tenant),
    ]
