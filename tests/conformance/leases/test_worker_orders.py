"""set_worker_order: operators' orders to a worker, returned with its heartbeat."""

import asyncio
from dataclasses import replace

import pytest

from tests.conformance.leases.test_workers import WORKER
from tests.support.job_builders import MINUTE, SECOND, START
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import WorkerId

LEASE = WORKER.lease_seconds * SECOND


async def order_of(storage, worker):
    """The order returned by a worker's heartbeat."""
    wanted, _ = await storage.leases.worker_heartbeat(worker)
    return wanted


async def test_a_worker_without_orders_runs(storage):
    assert await order_of(storage, WORKER) is WorkerOrder.RUN
    assert await order_of(storage, WORKER) is WorkerOrder.RUN


@pytest.mark.parametrize("order", [WorkerOrder.DRAIN, WorkerOrder.STOP])
async def test_an_order_is_returned_with_every_heartbeat(storage, clock, order):
    await storage.leases.worker_heartbeat(WORKER)
    await clock.advance(SECOND)

    ordered = await storage.leases.set_worker_order(WORKER.id, order, by="ada – ü")

    [seen] = await storage.leases.workers()
    assert ordered
    assert (seen.wanted, seen.wanted_by, seen.wanted_at) == (order, "ada – ü", START + SECOND)
    assert [await order_of(storage, WORKER) for _ in range(2)] == [order, order]


async def test_a_repeated_order_keeps_its_first_record(storage, clock):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN, by="ada")
    await clock.advance(SECOND)

    again = await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN, by="bob")

    [seen] = await storage.leases.workers()
    assert again
    assert (seen.wanted_by, seen.wanted_at) == ("ada", START)


async def test_a_draining_worker_can_be_resumed(storage, clock):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN, by="ada")
    await clock.advance(SECOND)

    resumed = await storage.leases.set_worker_order(WORKER.id, WorkerOrder.RUN)

    [seen] = await storage.leases.workers()
    assert resumed
    assert (seen.wanted, seen.wanted_by, seen.wanted_at) == (WorkerOrder.RUN, None, START + SECOND)
    assert await order_of(storage, replace(WORKER, doing=WorkerOrder.DRAIN)) is WorkerOrder.RUN


@pytest.mark.parametrize("order", [WorkerOrder.RUN, WorkerOrder.DRAIN])
async def test_a_stop_order_cannot_be_revoked(storage, order):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.STOP)

    assert not await storage.leases.set_worker_order(WORKER.id, order)
    assert await order_of(storage, WORKER) is WorkerOrder.STOP
    assert await storage.leases.set_worker_order(WORKER.id, WorkerOrder.STOP)


@pytest.mark.parametrize("order", [WorkerOrder.RUN, WorkerOrder.DRAIN])
async def test_a_worker_that_is_stopping_takes_only_a_stop_order(storage, order):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN)
    await storage.leases.worker_heartbeat(replace(WORKER, doing=WorkerOrder.STOP))

    assert not await storage.leases.set_worker_order(WORKER.id, order)
    assert await storage.leases.set_worker_order(WORKER.id, WorkerOrder.STOP)


async def test_a_worker_with_an_overdue_heartbeat_takes_no_order(storage, clock):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN)
    await clock.advance(LEASE - SECOND / 100)
    in_time = await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN)
    await clock.advance(SECOND / 100)

    late = [await storage.leases.set_worker_order(WORKER.id, order) for order in WorkerOrder]

    [seen] = await storage.leases.workers()
    assert in_time
    assert late == [False] * len(WorkerOrder)
    assert seen.wanted is WorkerOrder.DRAIN


async def test_an_unknown_or_departed_worker_takes_no_order(storage):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.delete_worker(WORKER.id)

    assert not await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN)
    assert not await storage.leases.set_worker_order(WorkerId("nobody"), WorkerOrder.STOP)


async def test_an_order_is_for_one_worker_and_ends_with_it(storage, clock):
    other = replace(WORKER, id=WorkerId("other"))
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.worker_heartbeat(other)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN)
    await clock.advance(MINUTE)

    await storage.leases.delete_worker(WORKER.id)

    assert await order_of(storage, other) is WorkerOrder.RUN
    assert await order_of(storage, WORKER) is WorkerOrder.RUN


async def test_of_concurrent_stop_and_resume_orders_the_stop_wins(storage, twin):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.set_worker_order(WORKER.id, WorkerOrder.DRAIN)

    _, stopped, _ = await asyncio.gather(
        twin.leases.set_worker_order(WORKER.id, WorkerOrder.RUN),
        storage.leases.set_worker_order(WORKER.id, WorkerOrder.STOP),
        storage.leases.worker_heartbeat(WORKER),
    )

    assert stopped
    assert await order_of(storage, WORKER) is WorkerOrder.STOP
