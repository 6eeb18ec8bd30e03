"""Workers: liveness of silent ones, search by id, orders."""

from dataclasses import replace
from datetime import timedelta

import pytest

from windlass.core.jobs.models import WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder, order_nudge
from windlass.engine.leases.workers import liveness
from windlass.errors import AmbiguousId, WorkerGone, WorkerNotFound, WorkerStopping
from windlass.ids import WorkerId

ROW = WorkerRow(
    id=WorkerId("alder"), hostname="alder", pid=1, version="0", queues=(), definitions=(), slots=1
)


@pytest.mark.parametrize(
    ("unseen", "seen_as"),
    [(0, "live"), (19, "live"), (20, "stale"), (29.9, "stale"), (30, "lost"), (9_999, "lost")],
)
def test_two_missed_beats_are_stale_and_a_whole_lease_is_lost(unseen, seen_as):
    worker = replace(ROW, lease_seconds=30.0, age=timedelta(seconds=unseen))

    assert liveness(worker) == seen_as


async def test_a_worker_is_found_by_its_id_or_a_suffix(engine):
    for id in ("web-1:7:8c1f42d7", "web-2:7:8c1f42d7", "web-3:7:0badcafe"):
        await engine.workers.beat(replace(ROW, id=WorkerId(id)))

    assert (await engine.workers.get("0badcafe")).id == "web-3:7:0badcafe"
    assert (await engine.workers.get("web-1:7:8c1f42d7")).id == "web-1:7:8c1f42d7"
    with pytest.raises(AmbiguousId, match="several workers end in"):
        await engine.workers.get("8c1f42d7")
    with pytest.raises(WorkerNotFound):
        await engine.workers.get("cafe")


async def test_an_order_is_stored_with_its_author_and_nudges_the_worker(engine):
    id = WorkerId("web-1:7:8c1f42d7")
    await engine.workers.beat(replace(ROW, id=id))
    heard = []
    engine.nudges.local_listeners.add(heard.append)

    ordered = await engine.workers.drain("8c1f42d7", actor="ada")

    assert (ordered.id, ordered.wanted, ordered.wanted_by) == (id, WorkerOrder.DRAIN, "ada")
    assert ordered.doing is WorkerOrder.RUN
    assert heard == [{order_nudge(id)}]
    assert (await engine.workers.resume(id, actor="bob")).wanted is WorkerOrder.RUN


async def test_a_lost_worker_gets_no_order(engine, clock):
    await engine.workers.beat(ROW)
    await clock.advance(timedelta(seconds=ROW.lease_seconds))

    with pytest.raises(WorkerGone, match="alder is lost"):
        await engine.workers.drain("alder")


@pytest.mark.parametrize("doing", [WorkerOrder.RUN, WorkerOrder.STOP])
async def test_a_stopping_worker_gets_no_other_order(engine, doing):
    await engine.workers.beat(replace(ROW, doing=doing))
    await engine.workers.stop("alder")

    with pytest.raises(WorkerStopping, match="cannot drain"):
        await engine.workers.drain("alder")
    with pytest.raises(WorkerStopping, match="cannot resume"):
        await engine.workers.resume("alder")
    assert (await engine.workers.stop("alder")).wanted is WorkerOrder.STOP
