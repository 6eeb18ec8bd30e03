"""Fields of a trigger, their edits, and its next due time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from windlass.core.jobs.models import DEFAULT_TENANT
from windlass.core.triggers.schedule import cron, every, init, once
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import (
    code_snapshot,
    fields_of,
    merge_trigger_with_code,
    next_run_from_now,
    schedule_of,
    type_of,
    with_edited_fields,
    without_edits,
)
from windlass.ids import DefinitionKey, new_trigger_id

NOW = datetime(2027, 3, 1, 12, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
SCHEDULES = [cron("0 2 * * *", tz="Asia/Tokyo"), every("1h"), once(NOW + HOUR), init()]


def a_trigger(schedule, **about) -> Trigger:
    created = Trigger(
        id=new_trigger_id(),
        tenant=DEFAULT_TENANT,
        name="t",
        type=type_of(schedule),
        definition=DefinitionKey("d"),
        origin="code",
        **fields_of(schedule),
    )
    return replace(created, code=code_snapshot(created), **about)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_round_trips_through_its_fields(schedule):
    assert schedule_of(a_trigger(schedule)) == schedule


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_edited_fields_are_named_and_can_be_reset(schedule):
    trigger = a_trigger(schedule)

    edited = with_edited_fields(replace(trigger, name="other", enabled=False))

    assert edited.edited == ("enabled", "name")
    assert without_edits(edited) == trigger
    assert with_edited_fields(trigger).edited == ()


def test_edited_fields_stay_and_others_follow_the_code():
    row = with_edited_fields(replace(a_trigger(every("1h")), name="other"))
    declared = a_trigger(every("2h"), misfire="all")

    followed = merge_trigger_with_code(row, declared, NOW)

    assert (followed.id, followed.name) == (row.id, "other")
    assert (followed.interval_seconds, followed.misfire) == (7200, "all")


def test_an_edited_trigger_keeps_its_owner_when_the_code_changes():
    row = with_edited_fields(replace(a_trigger(every("1h")), name="other", saved_by="user:1"))
    without_edits = replace(a_trigger(every("1h")), saved_by="user:1")
    declared = a_trigger(every("2h"))

    assert merge_trigger_with_code(row, declared, NOW).saved_by == "user:1"
    assert merge_trigger_with_code(without_edits, declared, NOW).saved_by is None


def test_edited_times_survive_a_change_of_the_schedule_type():
    row = with_edited_fields(replace(a_trigger(every("1h")), interval_seconds=60.0))

    assert merge_trigger_with_code(row, a_trigger(cron("0 2 * * *")), NOW) is row


def test_a_due_run_survives_code_changes_other_than_the_times():
    row = replace(a_trigger(cron("0 * * * *")), next_run_at=NOW - HOUR)

    other_payload = merge_trigger_with_code(
        row, a_trigger(cron("0 * * * *"), payload={"n": 2}), NOW
    )
    other_times = merge_trigger_with_code(row, a_trigger(cron("45 * * * *")), NOW)
    back = merge_trigger_with_code(
        replace(row, missing_from_code=True), a_trigger(cron("0 * * * *")), NOW
    )

    assert (other_payload.payload, other_payload.next_run_at) == ({"n": 2}, NOW - HOUR)
    assert other_times.next_run_at == NOW + HOUR / 4
    assert back.next_run_at == NOW + HOUR / 2


@pytest.mark.parametrize(
    ("schedule", "last", "due"),
    [
        (every("1h"), None, NOW),
        (every("1h"), NOW - 1.5 * HOUR, NOW + 0.5 * HOUR),
        (cron("0 * * * *"), NOW - 5 * HOUR, NOW + HOUR / 2),
        (once(NOW - HOUR), None, NOW - HOUR),
        (once(NOW - HOUR), NOW - HOUR, None),
        (init(), None, NOW),
        (init(), NOW - HOUR, None),
    ],
)
def test_the_next_run_counts_from_now_and_repeats_no_fired_time(schedule, last, due):
    assert next_run_from_now(a_trigger(schedule, last_run_at=last), NOW) == due
    assert next_run_from_now(a_trigger(schedule, last_run_at=last, enabled=False), NOW) is None
