"""Alerts: one process reports a cause to a receiver, once in an interval and only with news."""

import asyncio
from datetime import timedelta

HOUR = timedelta(hours=1)
CAUSE = ("mail", "report", "f" * 16)


async def test_concurrent_takes_of_an_alert_succeed_once(storage):
    taken = await asyncio.gather(
        *(storage.monitoring.claim_alert(*CAUSE, interval=HOUR, last_at=None) for _ in range(6))
    )

    assert sorted(taken) == [False] * 5 + [True]
    assert await storage.monitoring.claim_alert("webhook", *CAUSE[1:], interval=HOUR), (
        "each receiver its own"
    )


async def test_an_alert_repeats_after_the_interval_and_only_with_news(storage, clock):
    now = await storage.now()
    assert await storage.monitoring.claim_alert(*CAUSE, interval=HOUR, last_at=now)
    await storage.monitoring.record_alert_sent(*CAUSE, last_at=now)
    [alert] = await storage.monitoring.alerts()
    later = now + timedelta(minutes=1)

    assert alert == (*CAUSE, now, now)
    assert not await storage.monitoring.claim_alert(*CAUSE, interval=HOUR, last_at=later), (
        "too early"
    )
    await clock.advance(HOUR)
    assert not await storage.monitoring.claim_alert(*CAUSE, interval=HOUR, last_at=now), "no news"
    assert await storage.monitoring.claim_alert(*CAUSE, interval=HOUR, last_at=later)
    assert not await storage.monitoring.claim_alert(*CAUSE, interval=HOUR, last_at=later)


async def test_old_alert_causes_are_deleted(storage, clock):
    await storage.monitoring.claim_alert(*CAUSE, interval=HOUR)
    await storage.monitoring.prune_alerts(days=30)
    assert len(await storage.monitoring.alerts()) == 1

    await clock.advance(timedelta(days=31))
    await storage.monitoring.prune_alerts(days=30)

    assert await storage.monitoring.alerts() == []
