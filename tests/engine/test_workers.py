"""How people see workers that went silent."""

from dataclasses import replace
from datetime import timedelta

import pytest

from windlass.core.models import WorkerRow
from windlass.engine.workers import liveness
from windlass.errors import AmbiguousId, WorkerNotFound
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


async def test_a_worker_is_found_by_its_id_or_the_end_of_it(engine):
    for id in ("web-1:7:8c1f42d7", "web-2:7:8c1f42d7", "web-3:7:0badcafe"):
        await engine.workers.beat(replace(ROW, id=WorkerId(id)))

    assert (await engine.workers.get("0badcafe")).id == "web-3:7:0badcafe"
    assert (await engine.workers.get("web-1:7:8c1f42d7")).id == "web-1:7:8c1f42d7"
    with pytest.raises(AmbiguousId, match="several workers end in"):
        await engine.workers.get("8c1f42d7")
    with pytest.raises(WorkerNotFound):
        await engine.workers.get("cafe")
