"""Why isn't it running? Every reason, the first true one first."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ACME,
    HOUR,
    LEASE_TIME,
    a_definition,
    a_job,
    a_tenant,
    end,
    enqueue,
    enqueue_child,
    job,
    lease_of,
    lost,
    regate,
    set_enabled,
    started,
)
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, WorkerRow
from windlass.core.jobs.states import JobState
from windlass.core.leases.gates import own_gate, suspect_gate
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.engine.jobs.explain import explain
from windlass.ids import DefinitionKey, WorkerId, short

BUSY = WorkerRow(
    id=WorkerId("alder"),
    hostname="alder",
    pid=1,
    version="0",
    queues=(),
    definitions=("plain", "limited"),
    slots=2,
    slots_used=2,
    lease_seconds=LEASE_TIME.total_seconds(),
)
FREE = replace(BUSY, slots_used=1)


@pytest.fixture
def reason(storage):
    async def of(id):
        return await explain(storage, await job(storage, id))

    return of


@pytest.mark.parametrize(
    ("state", "sentence", "verb"),
    [
        (JobState.COMPLETED, "It has completed.", "show"),
        (JobState.CANCELED, "It was canceled", "retry"),
        (JobState.DEAD_LETTER, "It failed for good", "retry"),
    ],
)
async def test_a_job_that_has_ended(storage, reason, state, sentence, verb):
    ended = await a_job(storage, state)

    why = await reason(ended.id)

    assert why.code == "ended"
    assert why.sentence.startswith(sentence)
    assert why.hint == f"windlass jobs {verb} {short(ended.id)}"


async def test_a_dead_letter_names_its_error(storage, reason):
    id = await enqueue(storage)
    lease = await lease_of(storage, id)
    await end(storage, lease, JobState.DEAD_LETTER, error="no such host\nmore")

    assert "no such host." in (await reason(id)).sentence


async def test_a_job_that_runs(storage, reason):
    running = await a_job(storage, JobState.RUNNING)

    assert await _said(reason, running.id) == ("running", "It is running on alder.")

    await storage.jobs.cancel(ALL_TENANTS, [running.id])
    assert (await reason(running.id)).sentence.endswith("and is asked to stop.")


async def test_a_disabled_definition(storage, reason):
    id = await enqueue(storage)
    await set_enabled(storage, "plain", False)
    await regate(storage)

    why = await reason(id)

    assert (why.code, why.hint) == ("definition_disabled", "windlass definitions enable plain")


async def test_a_suspended_tenant(storage, reason):
    await a_tenant(storage, ACME)
    id = await enqueue(storage, tenant=ACME)
    await a_tenant(storage, ACME, state="suspended")

    assert await _said(reason, id) == ("tenant_suspended", "Its tenant acme is suspended.")


async def test_a_job_on_hold(storage, reason):
    id = await enqueue(storage, held=True)

    why = await reason(id)

    assert (why.code, why.hint) == ("held", f"windlass jobs run-now {short(id)}")


async def test_a_job_that_waits_for_others(storage, reason):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent)

    assert await _said(reason, child) == (
        "waiting_for_jobs",
        f"It waits for {short(parent)} (queued).",
    )


async def test_a_job_that_is_due_later(storage, reason):
    id = await enqueue(storage, delay=2 * HOUR)

    why = await reason(id)

    assert why.code == "due_later"
    assert "2026-01-01 02:00:00 UTC" in why.sentence


async def test_a_full_limit_of_its_definition(storage, reason):
    ids = [await enqueue(storage, definition="limited") for _ in range(3)]
    for id in ids[:2]:
        await lease_of(storage, id)

    assert await _said(reason, ids[2]) == (
        "limit_full",
        "As many jobs as allowed run already: definition limited.",
    )


async def test_a_full_limit_of_its_tenant(storage, reason):
    await a_tenant(storage, ACME, max_running=1)
    one, two = [await enqueue(storage, tenant=ACME) for _ in range(2)]
    await lease_of(storage, one)

    assert (await reason(two)).sentence.endswith("tenant acme.")


async def test_no_worker_that_serves_its_queue(storage, reason, clock):
    id = await enqueue(storage)
    await storage.leases.worker_heartbeat(replace(FREE, id=WorkerId("beech"), queues=("mail",)))
    await storage.leases.worker_heartbeat(FREE)
    await clock.advance(LEASE_TIME)  # long unseen

    assert (await reason(id)).code == "no_worker"


async def test_no_worker_knows_its_definition(storage, reason):
    await a_definition(storage, "novel")
    id = await enqueue(storage, definition="novel")
    await storage.leases.worker_heartbeat(FREE)

    assert (await reason(id)).code == "unknown_to_workers"


async def test_workers_know_only_an_older_version_of_its_payload(storage, reason):
    await storage.leases.worker_heartbeat(
        replace(FREE, metadata={"payload_versions": {"plain": 2}})
    )
    plain = Definition(key=DefinitionKey("plain"), title="Plain")
    gates = [own_gate(replace(plain, version=n), DEFAULT_TENANT, None) for n in (2, 3)]
    second, third = [await enqueue(storage, gate=gate) for gate in gates]

    assert (await reason(second)).code == "claiming"
    why = await reason(third)
    assert why.code == "unknown_to_workers"
    assert "version 3" in why.sentence


async def test_all_workers_are_busy(storage, reason):
    ids = [await enqueue(storage) for _ in range(3)]
    await storage.leases.worker_heartbeat(BUSY)

    assert await _said(reason, ids[0]) == (
        "workers_busy",
        "All workers are busy; about 2 jobs wait too.",
    )


async def test_all_workers_are_draining(storage, reason):
    id = await enqueue(storage)
    for name in ("alder", "beech"):
        await storage.leases.worker_heartbeat(replace(FREE, id=WorkerId(name)))
        await storage.leases.set_worker_order(WorkerId(name), WorkerOrder.DRAIN)

    told = await reason(id)

    assert (told.code, told.sentence, told.hint) == (
        "workers_draining",
        "No worker takes it: all 2 live workers that could run it drain.",
        "windlass workers resume alder",
    )


async def test_one_worker_that_stops_by_itself_cannot_be_resumed(storage, reason):
    id = await enqueue(storage)
    await storage.leases.worker_heartbeat(replace(FREE, doing=WorkerOrder.STOP))

    told = await reason(id)

    assert told.sentence == "No worker takes it: the only live worker that could run it drains."
    assert told.hint == "windlass worker"


async def test_a_worker_that_drains_beside_one_that_does_not_is_no_reason(storage, reason):
    id = await enqueue(storage)
    await storage.leases.worker_heartbeat(FREE)
    await storage.leases.worker_heartbeat(replace(FREE, id=WorkerId("beech")))
    await storage.leases.set_worker_order(WorkerId("beech"), WorkerOrder.DRAIN)

    assert (await reason(id)).code == "claiming"


async def test_a_job_that_is_just_being_claimed(storage, reason):
    id = await enqueue(storage)
    await storage.leases.worker_heartbeat(FREE)

    assert (await reason(id)).code == "claiming"


@pytest.mark.parametrize(
    ("alone", "words"),
    [(False, "apart from other lost jobs"), (True, "for a worker where no other job runs")],
)
async def test_a_job_whose_worker_died_with_others(storage, reason, clock, alone, words):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)
    gate = suspect_gate("", "plain", alone=alone)
    await storage.leases.reap([lost(lease, gate=gate, uncounted=True, spared=True)])
    await storage.leases.promote()
    await storage.leases.worker_heartbeat(FREE)

    why = await reason(lease.job_id)

    assert why.code == "suspect"
    assert why.sentence.startswith("It waits")
    assert (
        f"{words}: its worker alder was lost at {clock.now:%Y-%m-%d %H:%M:%S} UTC" in why.sentence
    )


async def test_the_first_true_reason_wins(storage, reason):
    await a_tenant(storage, ACME)
    id = await enqueue(storage, tenant=ACME, held=True, delay=timedelta(days=1))
    await a_tenant(storage, ACME, state="suspended")
    assert (await reason(id)).code == "tenant_suspended"

    await a_tenant(storage, ACME)
    assert (await reason(id)).code == "held"

    await storage.jobs.run_now(ALL_TENANTS, id)
    assert (await reason(id)).code == "no_worker"


async def _said(reason, id):
    why = await reason(id)
    return why.code, why.sentence
