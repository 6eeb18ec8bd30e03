"""Idempotency keys of requests: taken once, response stored, released, deleted."""

import asyncio

from tests.conformance.account_builders import hash_of
from tests.support.job_builders import DAY, MINUTE

KEY, REQUEST = hash_of("key"), hash_of("request")


async def hold(storage, holder="one", request=REQUEST, key=KEY):
    return await storage.access.begin_idempotent_request(
        key, request, tenant="acme", holder=holder, hold=MINUTE
    )


async def keep(storage, holder="one", body='{"id": 1}'):
    await storage.access.store_idempotent_response(
        KEY, holder=holder, status=201, body=body, keep=DAY
    )


async def test_a_key_is_taken_and_its_response_stored(storage):
    taken = await hold(storage)
    await keep(storage)

    found = await hold(storage, "two", hash_of("another request"))

    assert (taken.holder, taken.status, taken.body) == ("one", None, None)
    assert (found.holder, found.request_hash) == ("one", REQUEST)
    assert (found.status, found.body) == (201, '{"id": 1}')


async def test_concurrent_requests_take_a_key_once(storage, twin):
    holders = [str(number) for number in range(8)]

    found = await asyncio.gather(
        *(hold(storage if n % 2 else twin, holder) for n, holder in enumerate(holders))
    )

    assert len({each.holder for each in found}) == 1
    assert found[0].holder in holders


async def test_an_abandoned_key_can_be_taken_again(storage, clock):
    await hold(storage)
    before = await hold(storage, "two")

    await clock.advance(MINUTE)
    after = await hold(storage, "two", hash_of("another request"))
    await keep(storage, "one")

    assert (before.holder, after.holder) == ("one", "two")
    found = await hold(storage, "three")
    assert (found.holder, found.request_hash, found.status) == (
        "two",
        hash_of("another request"),
        None,
    )


async def test_a_key_is_released_by_its_holder_until_it_has_a_response(storage):
    await hold(storage)
    await storage.access.release_idempotency_key(KEY, holder="two")
    held = await hold(storage, "two")
    await storage.access.release_idempotency_key(KEY, holder="one")
    free = await hold(storage, "two")
    await keep(storage, "two", body=None)
    await storage.access.release_idempotency_key(KEY, holder="two")
    finished = await hold(storage, "three")

    assert (held.holder, free.holder) == ("one", "two")
    assert (finished.holder, finished.status, finished.body) == ("two", 201, None)


async def test_expired_responses_are_deleted_in_batches(storage, clock):
    await hold(storage)
    await keep(storage)
    for number in range(3):
        await hold(storage, key=hash_of(f"other {number}"))
    early = await storage.access.prune_idempotency_keys()

    await clock.advance(MINUTE)
    some = [await storage.access.prune_idempotency_keys(most=2) for _ in range(3)]
    await clock.advance(DAY)

    assert (early, some) == (0, [2, 1, 0])
    assert await storage.access.prune_idempotency_keys() == 1
    assert (await hold(storage, "late")).holder == "late"
