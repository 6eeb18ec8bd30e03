"""Races of trigger changes with firing, and with each other."""

import asyncio
from dataclasses import replace

import pytest_asyncio

from tests.conformance.races.race import ROUNDS, race, uncommitted
from tests.conformance.triggers.test_triggers import changed, stored_trigger
from tests.support.job_builders import MINUTE, new_job
from windlass.core.jobs.models import ALL_TENANTS

#: Long enough for a statement to meet the first one's locks; too short costs only sharpness.
MEETING = 0.05


@pytest_asyncio.fixture(loop_scope="session")
async def due(storage):
    async def make():
        return await stored_trigger(storage, next_run_at=await storage.now() - MINUTE)

    return make


async def test_changing_a_trigger_against_firing_it(storage, twin, due):
    for number in range(ROUNDS):
        trigger = await due()
        next_run_at = trigger.next_run_at + MINUTE

        _, fired = await race(
            number,
            changed(storage, trigger, payload={"n": 2}),
            twin.triggers.fire(trigger, trigger.next_run_at, next_run_at, [new_job()]),
        )

        after = await storage.triggers.trigger(ALL_TENANTS, trigger.id)
        assert fired is not None
        assert (after.payload, after.next_run_at) == ({"n": 2}, next_run_at)


async def test_changing_a_trigger_against_its_uncommitted_firing(storage, twin, due):
    trigger = await due()
    next_run_at = trigger.next_run_at + MINUTE

    async with uncommitted(storage) as inside:
        await inside.triggers.fire(trigger, trigger.next_run_at, next_run_at, [new_job()])
        changing = asyncio.create_task(changed(twin, trigger, payload={"n": 2}))
        await asyncio.wait({changing}, timeout=MEETING)

    assert await changing
    after = await storage.triggers.trigger(ALL_TENANTS, trigger.id)
    assert (after.payload, after.next_run_at) == ({"n": 2}, next_run_at)


async def test_disabling_a_trigger_against_firing_it(storage, twin, due):
    for number in range(ROUNDS):
        trigger, created = await due(), new_job()

        _, fired = await race(
            number,
            changed(storage, trigger, enabled=False),
            twin.triggers.fire(trigger, trigger.next_run_at, None, [created]),
        )

        assert not (await storage.triggers.trigger(ALL_TENANTS, trigger.id)).enabled
        assert await storage.jobs.existing_job_ids([created.id]) == (
            set() if fired is None else {created.id}
        )


async def test_disabling_a_trigger_against_another_change(storage, twin, due):
    for number in range(ROUNDS):
        trigger = await due()

        await race(
            number,
            changed(storage, trigger, enabled=False),
            changed(twin, trigger, payload={"n": 2}),
        )

        after = await storage.triggers.trigger(ALL_TENANTS, trigger.id)
        assert (after.enabled, after.payload) == (False, {"n": 2})


async def test_deleting_a_trigger_against_changing_it(storage, twin, due):
    for number in range(ROUNDS):
        trigger = await due()

        dropped, _ = await race(
            number,
            storage.triggers.delete_trigger(ALL_TENANTS, trigger.id),
            twin.triggers.update_trigger(trigger.id, lambda row: replace(row, payload={"n": 2})),
        )

        assert dropped
        assert await storage.triggers.trigger(ALL_TENANTS, trigger.id) is None
