"""claim: limits per key, per queue and by rate; a full limit blocks no other job."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    KNOWN,
    MINUTE,
    SECOND,
    a_definition,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    lost,
    new_job,
    new_jobs,
    regate,
    release,
)
from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.core.definitions.options import edits
from windlass.core.jobs.models import DEFAULT_TENANT
from windlass.core.jobs.states import JobState
from windlass.core.leases import gates
from windlass.core.leases.lease import JobLine
from windlass.ids import DefinitionKey, QueueName

SYNC = DefinitionKey("sync")
SYNCS = (*KNOWN, SYNC)
MAIL = QueueName("mail")


def behind(key, *, version=1, tenant=DEFAULT_TENANT):
    """The gate of a job with a limit key."""
    return gates.own_gate(Definition(key=SYNC, title="x", version=version), tenant, key)


async def keyed(storage, *keys, tenant=DEFAULT_TENANT, **changes):
    return await storage.jobs.enqueue(
        [
            new_job(definition=SYNC, gate=behind(key, tenant=tenant), tenant=tenant, **changes)
            for key in keys
        ]
    )


async def edit(storage, key, **changes):
    await storage.definitions.change_definitions(
        [key], lambda found: [merge.apply_edits(d, edits(changes)) for d in found.values()]
    )
    await regate(storage)


def running_by_key(leases):
    return Counter(lease.gate for lease in leases)


async def test_a_key_limit_is_respected_and_other_keys_run(storage):
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=2)
    await keyed(storage, *["acme"] * 5, *["globex"] * 3)

    leases = await claim_all(storage, known=SYNCS)

    assert running_by_key(leases) == {behind("acme"): 2, behind("globex"): 2}


async def test_a_key_is_free_after_its_job_ends(storage):
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, *["acme"] * 3)
    [first] = await claim_all(storage, known=SYNCS)

    await end(storage, first)

    assert len(await claim_all(storage, known=SYNCS)) == 1


@pytest.mark.parametrize("how", ["released", "lost", "failed"])
async def test_a_key_is_free_after_any_kind_of_end(world, how):
    storage = world.storage
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, "acme", "acme")
    [lease] = await claim_all(storage, known=SYNCS)

    match how:
        case "released":
            await storage.leases.finish(ALDER, [release(lease)])
        case "failed":
            await end(storage, lease, JobState.DEAD_LETTER)
        case "lost":
            await world.clock.advance(DAY)
            await storage.leases.reap([lost(lease, JobState.DEAD_LETTER)])

    assert len(await claim_all(storage, known=SYNCS)) == 1


async def test_full_keys_do_not_hide_a_free_one(storage):
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, *[f"k{n:03}" for n in range(60)] * 2)
    await claim_all(storage, known=SYNCS)
    await keyed(storage, "zzz")

    # One slot, and so one line in sight.
    survey = await storage.leases.survey(None, SYNCS, most=1)

    assert [line.gate for line in survey.lines] == [behind("zzz")]


async def test_key_and_definition_limits_both_apply(storage):
    await a_definition(storage, "sync", limit_key="args.a", max_per_key=2, max_concurrency=3)
    await keyed(storage, *[key for key in "abcd" for _ in range(4)])

    leases = await claim_all(storage, known=SYNCS)

    assert len(leases) == 3
    assert max(running_by_key(leases).values()) <= 2


async def test_limit_keys_are_per_tenant(storage):
    await a_tenant(storage, "acme")
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, "7", "7")
    await keyed(storage, "7", "7", tenant=ACME)

    leases = await claim_all(storage, known=SYNCS)

    assert Counter(lease.tenant for lease in leases) == {DEFAULT_TENANT: 1, ACME: 1}


async def test_jobs_of_every_version_count_under_a_new_key_limit(storage):
    known = gates.needs({"sync": 2})
    await a_definition(storage, "sync", limit_key="args.account")
    await storage.jobs.enqueue(
        [new_job(definition=SYNC, gate=behind("acme", version=v)) for v in (1, 2, 2)]
    )
    await claim(storage, 2, known=known)

    await edit(storage, "sync", max_per_key=2)

    assert await claim_all(storage, known=known) == []


@pytest.mark.parametrize(
    "key", ["it's", '"quoted"', "a\nb", "\U0001f980" * 32, "x" * 10_240, "\x1e", " ", "%_\\", "#1"]
)
async def test_a_key_may_be_any_text(storage, key):
    await a_definition(
        storage, "sync", limit_key="args.a", max_per_key=1, key_rate_count=2, key_rate_seconds=60.0
    )
    await keyed(storage, key, key, key, "other")

    first = await claim_all(storage, known=SYNCS)
    for lease in first:
        await end(storage, lease)
    second = await claim_all(storage, known=SYNCS)
    for lease in second:
        await end(storage, lease)

    assert running_by_key(first) == {behind(key): 1, behind("other"): 1}
    assert running_by_key(second) == {behind(key): 1}
    assert await claim_all(storage, known=SYNCS) == []


async def test_a_key_limit_holds_with_several_workers(storage, twin):
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, *[f"k{n}" for n in range(8)] * 3)

    rounds = await asyncio.gather(
        *(claim((storage, twin)[n % 2], 4, worker=f"w{n}", known=SYNCS) for n in range(12))
    )

    taken = running_by_key(lease for leases in rounds for lease in leases)
    assert max(taken.values()) == 1


async def test_running_jobs_count_under_a_new_key_limit(storage):
    await a_definition(storage, "sync", limit_key="args.account")
    await keyed(storage, *["acme"] * 5)
    await claim(storage, 2, known=SYNCS)

    await edit(storage, "sync", max_per_key=3)

    assert len(await claim_all(storage, known=SYNCS)) == 1


async def test_removing_a_limit_lets_all_jobs_run(storage):
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, *["acme"] * 3)
    await claim_all(storage, known=SYNCS)

    await edit(storage, "sync", max_per_key=None)

    assert len(await claim_all(storage, known=SYNCS)) == 2


async def test_keyed_jobs_of_a_disabled_definition_wait(storage):
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, "acme")
    await edit(storage, "sync", enabled=False)

    assert await claim_all(storage, known=SYNCS) == []
    await edit(storage, "sync", enabled=True)
    assert len(await claim_all(storage, known=SYNCS)) == 1


async def test_a_retried_keyed_job_still_counts_under_its_key(world):
    storage = world.storage
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    await keyed(storage, "acme", "acme")
    [lease] = await claim_all(storage, known=SYNCS)
    await end(storage, lease, JobState.QUEUED)

    leases = await claim_all(storage, known=SYNCS)

    assert len(leases) == 1


# Rates


async def begun(storage, clock, *, steps, step, known=SYNCS):
    """When attempts began, in seconds, with a claim at every step and each job ended at once."""
    times = []
    for n in range(steps):
        for lease in await claim_all(storage, known=known):
            times.append((n * step.total_seconds(), lease.gate))
            await end(storage, lease)
        await clock.advance(step)
    return times


async def test_a_rate_limits_starts_in_any_minute(storage, clock):
    await a_definition(storage, "sync", rate_count=5, rate_seconds=60.0)
    await storage.jobs.enqueue(new_jobs(40, definition=SYNC))

    times = [at for at, _ in await begun(storage, clock, steps=60, step=7 * SECOND)]

    assert times[:5] == [0, 0, 0, 0, 0]
    for at in times:
        assert sum(at <= other < at + 60 for other in times) <= 5
    assert len(times) >= 5 * 6  # of the seven minutes, at a twentieth less


async def test_the_time_of_the_next_free_start_is_returned(storage, clock):
    await a_definition(storage, "sync", rate_count=1, rate_seconds=60.0)
    assert await storage.leases.next_rate_capacity() is None
    await storage.jobs.enqueue(new_jobs(2, definition=SYNC))
    assert len(await claim_all(storage, known=SYNCS)) == 1

    wait = await storage.leases.next_rate_capacity()
    await clock.advance(wait - timedelta(milliseconds=1))
    assert await claim_all(storage, known=SYNCS) == []
    await clock.advance(timedelta(milliseconds=1))

    assert len(await claim_all(storage, known=SYNCS)) == 1


async def test_each_key_has_its_own_rate(storage, clock):
    await a_definition(storage, "sync", limit_key="args.a", key_rate_count=2, key_rate_seconds=10.0)
    await keyed(storage, *["acme"] * 6, *["globex"] * 2)

    times = await begun(storage, clock, steps=3, step=4 * SECOND)

    assert Counter(gate for _, gate in times) == {behind("acme"): 2, behind("globex"): 2}
    await clock.advance(10 * SECOND)
    assert len(await claim_all(storage, known=SYNCS)) == 2


async def test_rate_limited_jobs_do_not_block_others(storage):
    await a_definition(storage, "sync", rate_count=1, rate_seconds=60.0)
    await storage.jobs.enqueue(new_jobs(5, definition=SYNC, priority=1))
    other = await enqueue(storage, priority=200)

    leases = await claim_all(storage, known=SYNCS)

    assert len(leases) == 2
    assert other in {lease.job_id for lease in leases}


async def test_a_rate_holds_with_several_workers(storage, twin):
    await a_definition(storage, "sync", rate_count=7, rate_seconds=3600.0)
    await storage.jobs.enqueue(new_jobs(40, definition=SYNC))

    rounds = await asyncio.gather(
        *(claim((storage, twin)[n % 2], 3, worker=f"w{n}", known=SYNCS) for n in range(12))
    )
    rest = await claim_all(storage, known=SYNCS)

    assert sum(map(len, rounds)) + len(rest) == 7


async def test_start_records_are_deleted_when_no_rate_needs_them(storage, clock):
    await a_definition(storage, "sync", limit_key="args.a", key_rate_count=2, key_rate_seconds=60.0)
    await keyed(storage, *[f"key {n}" for n in range(5)])
    for lease in await claim_all(storage, known=SYNCS):
        await end(storage, lease)

    early = await storage.monitoring.prune_keys()
    await clock.advance(2 * MINUTE)
    late = [await storage.monitoring.prune_keys(most=3) for _ in range(3)]

    assert (early, late) == (0, [3, 2, 0])
    assert await storage.database.query("select name from windlass_starts", {}) == []


async def test_remaining_capacity_includes_keys_and_rates(storage):
    await a_definition(
        storage, "sync", limit_key="args.a", max_per_key=2, rate_count=10, rate_seconds=60.0
    )
    await keyed(storage, "acme")
    await claim_all(storage, known=SYNCS)

    line = JobLine(
        queue=QueueName("default"), tenant=ACME, gate=behind("acme"), limits=("definition:sync",)
    )

    assert await storage.leases.limit_capacity(line) == {
        ("definition:sync", "begun"): 9,
        (gates.counted_by(behind("acme")), "running"): 1,
    }


# Versions


async def test_an_older_worker_does_not_claim_newer_payload_versions(storage):
    await a_definition(storage, "sync")
    old = await enqueue(storage, definition=SYNC)
    new = await enqueue(storage, definition=SYNC, gate=behind(None, version=2))

    by_old = await claim_all(storage, known=gates.needs({"sync": 1}))
    by_new = await claim_all(storage, known=gates.needs({"sync": 2}))

    assert [lease.job_id for lease in by_old] == [old]
    assert [lease.job_id for lease in by_new] == [new]
    assert gates.version_of(by_new[0].gate) == 2


async def test_payload_version_and_key_both_apply(storage):
    await a_definition(storage, "sync", limit_key="args.a", max_per_key=1)
    await storage.jobs.enqueue(
        [new_job(definition=SYNC, gate=behind("acme", version=version)) for version in (1, 1, 2, 2)]
    )

    by_old = await claim_all(storage, known=gates.needs({"sync": 1}))
    by_new = await claim_all(storage, known=gates.needs({"sync": 2}))
    await end(storage, by_old[0])
    after = await claim_all(storage, known=gates.needs({"sync": 2}))

    assert (len(by_old), by_new, len(after)) == (1, [], 1)


async def test_edits_survive_a_sync_and_a_reset_restores_the_code(storage):
    declared = Definition(key=SYNC, title="Sync", max_attempts=3, code_hash="1")
    await storage.definitions.sync_definitions([declared])
    await edit(storage, "sync", max_attempts=9, rate_limit="5/s", metadata={"team": "mail"})

    await storage.definitions.sync_definitions([replace(declared, title="Sync 2", code_hash="2")])
    [edited] = [d for d in await storage.definitions.definitions() if d.key == SYNC]
    await storage.definitions.change_definitions(
        ["sync"], lambda f: [merge.reset_edits(d) for d in f.values()]
    )
    [back] = [d for d in await storage.definitions.definitions() if d.key == SYNC]

    assert (edited.title, edited.max_attempts, edited.rate_count) == ("Sync 2", 9, 5)
    assert edited.metadata == {"team": "mail"}
    assert edited.edited == ("max_attempts", "rate_count", "rate_seconds", "metadata")
    assert (back.max_attempts, back.rate_count, back.edited, back.gate) == (3, None, (), "")


async def test_a_definition_declared_again_without_a_limit_has_none(storage):
    await a_definition(storage, "sync", max_concurrency=1)
    await storage.definitions.delete_definition("sync")

    await a_definition(storage, "sync")
    await storage.jobs.enqueue(new_jobs(3, definition=SYNC))

    assert len(await claim_all(storage, known=SYNCS)) == 3


async def test_a_definition_in_use_is_not_deleted(storage):
    await a_definition(storage, "sync")
    await a_definition(storage, "idle")
    await enqueue(storage, definition=SYNC)

    assert not await storage.definitions.delete_definition("sync")
    assert await storage.definitions.delete_definition("idle")
    assert not await storage.definitions.delete_definition("idle")
