"""Summaries and stats as people see them."""

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    HOUR,
    MINUTE,
    a_job,
    a_tenant,
    end,
    enqueue,
    finish,
    started,
)
from windlass.core.jobs.models import Scope
from windlass.core.jobs.states import JobState
from windlass.core.monitoring.summary import CappedCount
from windlass.errors import OptionInvalid
from windlass.ids import QueueName


async def test_a_summary_tells_states_and_views_apart(storage, clock, engine):
    for state in (*JobState,)[::-1]:
        await a_job(storage, state, queue=QueueName("mail"))
    await enqueue(storage, delay=HOUR)
    await storage.leases.finish(
        ALDER, [finish(await started(storage), JobState.QUEUED, delay=HOUR)]
    )
    await clock.advance(4 * MINUTE)

    seen = await engine.summaries.summary()

    assert seen.at == clock.now
    assert seen.states[JobState.QUEUED] == 3
    assert seen.views == {
        "queued": CappedCount(1),
        "scheduled": CappedCount(1),
        "retrying": CappedCount(1),
        "waiting": CappedCount(1),
    }
    assert seen.running == 1
    assert seen.oldest_age == 4 * MINUTE
    mail = next(tally for tally in seen.queues if tally.name == "mail")
    assert mail.oldest_age == 4 * MINUTE
    assert mail.states[JobState.DEAD_LETTER] == 1
    assert [tally.name for tally in seen.definitions] == ["plain"]


async def test_a_summary_of_nothing_is_zeros(engine):
    seen = await engine.summaries.summary()

    assert set(seen.states.values()) == {0}
    assert seen.oldest_age is None
    assert seen.queues == seen.definitions == []


async def test_a_summary_keeps_to_its_scope(storage, engine):
    await a_tenant(storage, "acme")
    await enqueue(storage)
    await enqueue(storage, tenant=ACME, delay=HOUR)

    mine = await engine.summaries.summary(Scope(ACME))

    assert mine.states[JobState.QUEUED] == 1
    assert mine.views["scheduled"] == CappedCount(1)
    assert mine.oldest_age is None


async def test_a_summary_of_very_many_waiting_jobs_is_a_lower_bound(storage, engine):
    for _ in range(5):
        await enqueue(storage, delay=HOUR)

    seen = await engine.summaries.summary(look=3)

    assert str(seen.views["scheduled"]) == "3+"
    assert seen.states[JobState.QUEUED] == 5


async def test_stats_have_a_point_for_every_slot_of_their_window(storage, clock, engine):
    lease = await started(storage)
    await clock.advance(2 * MINUTE)
    await end(storage, lease, JobState.DEAD_LETTER)
    await clock.advance(2 * MINUTE)

    stats = await engine.summaries.stats("5m")

    assert [point.enqueued for point in stats.points] == [1, 0, 0, 0, 0]
    assert [point.dead_letter for point in stats.points] == [0, 0, 1, 0, 0]
    assert stats.points[2].mean_run == 2 * MINUTE
    assert stats.points[0].mean_run is None
    assert (stats.total.failed, stats.total.started) == (1, 1)
    assert stats.per_second("failed") == 1 / (4 * 60)
    assert [failing.definition for failing in stats.failing] == ["plain"]


@pytest.mark.parametrize(("window", "points"), [("5m", 5), ("1h", 60), ("24h", 96), ("7d", 84)])
async def test_every_window_has_its_slots(engine, clock, window, points):
    stats = await engine.summaries.stats(window)

    assert len(stats.points) == points
    assert stats.points[-1].at <= clock.now < stats.points[-1].at + stats.slot


async def test_an_unknown_window_is_refused(engine):
    with pytest.raises(OptionInvalid, match="window"):
        await engine.summaries.stats("3h")
