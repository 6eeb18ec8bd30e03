"""Races of replace with claim, finish and moves of the job: the newest payload runs once."""

import asyncio

from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import (
    DAY,
    SECOND,
    claim,
    claim_all,
    end,
    enqueue,
    job,
    new_job,
    offer,
    started,
)
from windlass.core.jobs.dead import PayloadEdit
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.ids import QueueName, new_job_id

QUEUED, RUNNING, DEAD_LETTER = JobState.QUEUED, JobState.RUNNING, JobState.DEAD_LETTER


def newer(key, payload='{"n":2}', **changes):
    return new_job(queue=QueueName(key), dedupe_key=key, payload=payload, **changes)


def a_key():
    return f"of {new_job_id()}"


async def replaced(storage, new):
    receipt = await offer(storage, new)
    return (
        receipt
        if receipt.existing_id is None
        else await storage.jobs.replace(new, receipt.existing_id)
    )


async def run_all(storage, key):
    """The payloads that run from here on, in order."""
    payloads = []
    for lease in await claim_all(storage, queues=[key]):
        payloads.append(lease.payload)
        assert await end(storage, lease)
    return payloads


async def test_replace_against_claim(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        id = await enqueue(storage, queue=key, dedupe_key=key, payload='{"n":1}')

        leases, result = await race(
            number, claim(storage, queues=[key]), replaced(twin, newer(key))
        )

        if leases:
            assert (leases[0].payload, result.status) == ('{"n":1}', "created")
            assert await end(storage, leases[0])
        else:
            assert (result.status, result.existing_id) == ("replaced", id)
        assert await run_all(storage, key) == ['{"n":2}']


async def test_replace_against_an_end_that_is_tried_again(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        lease = await started(storage, queue=key, dedupe_key=key, payload='{"n":1}')

        ended, result = await race(number, end(storage, lease, QUEUED), replaced(twin, newer(key)))

        assert ended is QUEUED
        assert result.status in ("created", "replaced")
        ran = await run_all(storage, key)
        assert sorted(ran) == (
            ['{"n":2}'] if result.status == "replaced" else ['{"n":1}', '{"n":2}']
        )


async def test_replace_against_success(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        lease = await started(storage, queue=key, dedupe_key=key)

        _, result = await race(number, end(storage, lease), replaced(twin, newer(key)))

        assert result.status == "created"
        assert await run_all(storage, key) == ['{"n":2}']


async def test_replace_against_promote(storage, twin, clock):
    for number in range(ROUNDS):
        key = a_key()
        id = await enqueue(storage, queue=key, dedupe_key=key, delay=SECOND)
        await clock.advance(SECOND)

        _, result = await race(number, storage.leases.promote(), replaced(twin, newer(key)))

        assert (result.status, result.existing_id) == ("replaced", id)
        assert await in_one_place(storage, id)
        assert await run_all(storage, key) == ['{"n":2}']


async def test_replace_against_cancel(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        id = await enqueue(storage, queue=key, dedupe_key=key)

        _, result = await race(
            number, storage.jobs.cancel(ALL_TENANTS, [id]), replaced(twin, newer(key))
        )

        assert (await job(storage, id)).state is JobState.CANCELED
        ran = await run_all(storage, key)
        assert ran == ([] if result.status == "replaced" else ['{"n":2}'])


async def test_concurrent_replaces_of_a_running_job(storage, twin):
    for _ in range(ROUNDS):
        key = a_key()
        lease = await started(storage, queue=key, dedupe_key=key)

        results = await asyncio.gather(
            *(replaced((storage, twin)[n % 2], newer(key, f'{{"n":{n}}}')) for n in range(6))
        )

        assert sorted(result.status for result in results) == ["created", *["replaced"] * 5]
        await end(storage, lease)
        assert len(await run_all(storage, key)) == 1


async def test_an_edited_retry_against_claim(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        lease = await started(storage, queue=key, payload='{"n":1}')
        await end(storage, lease, DEAD_LETTER)
        edit = PayloadEdit(payload='{"n":2}', message="edited", token=lease.token)

        result, leases = await race(
            number,
            storage.jobs.retry(ALL_TENANTS, lease.job_id, edit=edit),
            claim(twin, queues=[key]),
        )

        assert result == "queued"
        [again] = leases or await claim(storage, queues=[key])
        assert (again.payload, again.token) == ('{"n":2}', lease.token + 1)
        await end(storage, again)


async def test_two_edits_of_one_dead_lettered_job(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        lease = await started(storage, queue=key)
        await end(storage, lease, DEAD_LETTER)
        edits = [
            PayloadEdit(payload=f'{{"n":{n}}}', message="edited", token=lease.token) for n in (2, 3)
        ]

        results = await race(
            number,
            storage.jobs.retry(ALL_TENANTS, lease.job_id, edit=edits[0]),
            twin.jobs.retry(ALL_TENANTS, lease.job_id, edit=edits[1]),
        )

        assert sorted(results, key=str) == [None, "queued"]
        assert await run_all(storage, key) == [edits[results.index("queued")].payload]


async def test_an_edited_retry_against_replace_of_its_key(storage, twin):
    for number in range(ROUNDS):
        key = a_key()
        lease = await started(storage, queue=key, dedupe_key=key)
        await end(storage, lease, DEAD_LETTER)
        edit = PayloadEdit(payload='{"n":1}', message="edited", token=lease.token)

        result, stored = await race(
            number,
            storage.jobs.retry(ALL_TENANTS, lease.job_id, edit=edit),
            replaced(twin, newer(key, delay=DAY)),
        )

        assert (result, stored.status) in [("queued", "replaced"), ("duplicate", "created")]
        await storage.jobs.cancel(ALL_TENANTS, [lease.job_id, stored.id])
