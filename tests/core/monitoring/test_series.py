"""Slots, levels over time, rates, the use of workers, and noisy tenants."""

from datetime import UTC, datetime, timedelta

import pytest

from windlass.core.monitoring.noise import noisy_tenants
from windlass.core.monitoring.series import (
    Window,
    levels,
    others,
    queue_points,
    queue_rates,
    tenant_series,
    worker_points,
)
from windlass.core.monitoring.slots import StoredSlot, plan_slots
from windlass.core.monitoring.summary import StatsPoint, WorkerUse, time_slots
from windlass.ids import TenantId

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE, QUARTER, HOUR = timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=1)


def window(name="5m", now=NOON + 30 * timedelta(seconds=1)):
    begins = time_slots(name, now)
    return Window(name, plan_slots(begins[0], now, MINUTE, {}), begins)


def test_without_marks_minutes_are_read():
    plan = plan_slots(NOON, NOON + 3 * HOUR, 2 * HOUR, {})

    assert (plan.made, plan.minutes_since) == ([], NOON)
    assert plan.all_slots[0] == StoredSlot(60, NOON)
    assert len(plan.all_slots) == 181


def test_the_longest_slots_made_are_read_first():
    marks = {900: NOON + 2 * HOUR + 2 * QUARTER, 7200: NOON + 2 * HOUR}

    plan = plan_slots(NOON, NOON + 3 * HOUR, 2 * HOUR, marks)

    assert plan.made == [
        StoredSlot(7200, NOON),
        StoredSlot(900, NOON + 2 * HOUR),
        StoredSlot(900, NOON + 2 * HOUR + QUARTER),
    ]
    assert plan.minutes_since == NOON + 2 * HOUR + 2 * QUARTER


def test_short_slots_are_not_made_of_long_ones():
    marks = {900: NOON + HOUR, 7200: NOON + 2 * HOUR}

    assert plan_slots(NOON, NOON + HOUR, MINUTE, marks).made == []
    assert plan_slots(NOON, NOON + 2 * HOUR, QUARTER, marks).made[-1].span == 900


def test_a_time_that_begins_within_a_slot_takes_the_whole_slot():
    marks = {900: NOON + HOUR}

    plan = plan_slots(NOON + MINUTE, NOON + HOUR, HOUR, marks)

    assert plan.made[0] == StoredSlot(900, NOON)
    assert plan.minutes_since == NOON + HOUR


def test_a_mark_ahead_of_the_clock_hides_nothing():
    plan = plan_slots(NOON, NOON + QUARTER + MINUTE, QUARTER, {900: NOON + 9 * HOUR})

    assert plan.minutes_since == NOON + QUARTER


def test_levels_are_counted_back_from_now():
    assert levels([5, -2, 0, 1], now=4) == [5, 3, 3, 4]
    assert levels([9], now=3) == [3]
    assert levels([0, 5], now=3) == [0, 3]  # what was not counted leaves no level below zero


def test_depth_and_rates_of_a_queue_are_per_slot():
    read = window()
    last = read.begins[-1]
    found = {
        last - MINUTE: StatsPoint(last - MINUTE, enqueued=60, waiting_change=60),
        last: StatsPoint(last, enqueued=30, completed=15, waiting_change=-10),
    }

    points = queue_points(read, found, waiting=50)

    assert [point.depth for point in points] == [0, 0, 0, 60, 50]
    assert [point.in_per_second for point in points] == [0, 0, 0, 1, 1]
    assert points[-1].out_per_second == 0.5
    assert queue_rates(read, found)[0] == pytest.approx(90 / 270)


def test_the_use_of_workers_is_the_mean_of_the_notes():
    read = window()
    notes = [WorkerUse(read.begins[1], 2, 8, 3)]

    points = worker_points(read, notes)

    assert [point.slots_used for point in points] == [None, 3, None, None, None]


def test_the_rest_is_what_the_top_leaves():
    read = window()
    at = read.begins[-1]
    everybody = tenant_series(
        read, None, {at: StatsPoint(at, run_ms=9000, running_change=3)}, running=5
    )
    top = tenant_series(
        read, TenantId("a"), {at: StatsPoint(at, run_ms=4000, running_change=1)}, running=2
    )

    rest = others(everybody, [top])

    assert (top.worker_seconds, rest.worker_seconds) == (4.0, 5.0)
    assert [point.running for point in rest.points] == [1, 1, 1, 1, 3]


def ages(**seconds):
    return {name: timedelta(seconds=number) for name, number in seconds.items()}


@pytest.mark.parametrize(
    ("running", "waiting", "weights", "noisy"),
    [
        ({"big": 9, "small": 1, "late": 0}, ages(late=20), {}, {"big"}),
        ({"big": 9, "small": 1, "late": 0}, ages(late=5), {}, set()),
        ({"big": 9, "small": 1}, ages(big=60), {}, set()),  # only its own jobs wait
        ({"big": 9, "small": 1, "late": 0}, ages(late=20), {"big": 8}, set()),
        ({"big": 2, "small": 2}, ages(small=60), {}, set()),
        ({}, {}, {}, set()),
    ],
)
def test_a_tenant_is_noisy_above_twice_its_share_while_others_wait(
    running, waiting, weights, noisy
):
    assert noisy_tenants(running, waiting, weights) == noisy
