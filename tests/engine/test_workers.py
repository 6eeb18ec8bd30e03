"""How people see workers that went silent."""

from dataclasses import replace
from datetime import timedelta

import pytest

from windlass.core.models import WorkerRow
from windlass.engine.workers import liveness
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
