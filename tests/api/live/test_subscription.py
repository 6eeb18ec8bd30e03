"""Pending messages of a client are bounded, and an id never advances past unsent ones."""

import pytest

from windlass.api.live.changes import (
    ALL_TENANTS_AUDIENCE,
    Audience,
    SnapshotHistory,
    StreamChange,
    StreamEntryKey,
)
from windlass.api.live.subscription import Subscription
from windlass.core.jobs.models import ALL_TENANTS


def at(key: str, topic: str = "jobs") -> StreamEntryKey:
    return StreamEntryKey(topic, ALL_TENANTS_AUDIENCE, key)


@pytest.fixture
def slow() -> Subscription:
    """A client that does not fetch by itself; two changes of a topic may be pending for it."""
    topics = frozenset({"jobs", "queues"})
    return Subscription(topics, ALL_TENANTS, sequence=7, most=2, leave=lambda _: None)


async def test_a_later_change_replaces_an_earlier_one(slow):
    await slow.next(0)
    slow.put(StreamChange(at("a"), "1"), 8)
    slow.put(StreamChange(at("b"), "2"), 9)
    slow.put(StreamChange(at("a"), "3"), 10)

    messages = await slow.next(0)

    assert (messages.event, messages.changes, messages.sequence) == ("changes", ("2", "3"), 10)
    assert slow.idle


async def test_an_overflowing_slow_client_gets_a_reset_of_that_topic(slow):
    await slow.next(0)
    slow.put(StreamChange(at("a", "queues"), "0"), 8)
    for number in range(50):
        slow.put(StreamChange(at(str(number)), "x"), 9 + number)

    first, second = await slow.next(0), await slow.next(0)

    assert (first.event, first.topics) == ("reset", ("jobs",))
    assert (second.event, second.changes, second.sequence) == ("changes", ("0",), 58)


async def test_an_id_does_not_advance_past_pending_messages(slow):
    slow.put(StreamChange(at("a"), "1"), 8)

    ready, changes = await slow.next(0), await slow.next(0)

    assert (ready.event, ready.sequence) == ("ready", 7)
    assert (changes.event, changes.sequence) == ("changes", 8)


async def test_the_greeting_waits_for_the_first_read(slow):
    slow.wait_for_first_poll({"jobs"})

    before = await slow.next(0)
    slow.mark_polled("jobs", 12)
    after = await slow.next(0)

    assert before is None
    assert (after.event, after.sequence) == ("ready", 12)


async def test_nothing_is_sent_after_the_end(slow):
    slow.end()
    slow.put(StreamChange(at("a"), "1"), 8)

    assert await slow.next(30) is None


def test_the_first_read_of_a_topic_sends_nothing():
    picture = SnapshotHistory()

    first = picture.changes("jobs", {at("a"): ({"n": 1}, 0)}, whole=True)
    same = picture.changes("jobs", {at("a"): ({"n": 1}, 0)}, whole=True)
    marked = picture.changes("jobs", {at("a"): ({"n": 1}, 1)}, whole=True)

    assert (first, same) == ([], [])
    assert marked == [StreamChange(at("a"), '{"topic":"jobs","n":1}')]


def test_an_absent_item_is_gone_only_after_a_complete_read():
    picture, place = SnapshotHistory(), StreamEntryKey("events", Audience("acme"), "a")
    other = StreamEntryKey("events", Audience("acme"), "b")
    both = {place: ({}, None), other: ({}, None)}

    picture.changes("events", both, whole=False)
    part = picture.changes("events", {place: ({}, None)}, whole=False)
    picture.changes("events", both, whole=True)
    whole = picture.changes("events", {place: ({}, None)}, whole=True)

    assert part == []
    assert whole == [StreamChange(other, '{"topic":"events","key":"b","gone":true}')]


def test_a_read_of_only_new_items_may_have_missed_some():
    picture = SnapshotHistory()

    picture.changes("events", {at("a", "events"): ({}, None)}, whole=False)
    [change] = picture.changes("events", {at("b", "events"): ({}, None)}, whole=False)

    assert change == StreamChange(at("", "events"), None)
