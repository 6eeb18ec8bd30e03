"""Schedules: due times, catching up, previews and warnings."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.core.triggers.schedule import (
    MOST_MISSED,
    CronSchedule,
    Every,
    InitSchedule,
    Once,
    cron,
    every,
    fires,
    first_run,
    in_zone,
    init,
    next_run,
    once,
)
from windlass.core.triggers.schedule_preview import describe, preview, warnings
from windlass.errors import OptionInvalid, ScheduleInvalid, ZoneUnknown

NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NOW = at("2026-05-13T08:20:07")


def test_constructors_accept_documented_values():
    assert cron("0 2 * * *", tz=BERLIN) == CronSchedule("0 2 * * *", BERLIN)
    assert cron("@daily") == CronSchedule("@daily", None)
    assert every("15m") == every(900) == every(timedelta(minutes=15)) == Every(900.0)
    assert init() == InitSchedule(run_once=True)
    assert init(run_once=False) == InitSchedule(run_once=False)
    plus_two = timezone(timedelta(hours=2))
    assert once(datetime(2026, 5, 13, 10, tzinfo=plus_two)) == Once(at("2026-05-13T08:00"))
    assert once(datetime(2026, 5, 13, 10, tzinfo=plus_two)).at.tzinfo is UTC


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: cron("61 * * * *"), ScheduleInvalid),
        (lambda: cron("0 2 30 2 *", tz=BERLIN), ScheduleInvalid),
        (lambda: CronSchedule(""), ScheduleInvalid),
        (lambda: cron("@daily", tz="Europe/Berln"), ZoneUnknown),
        (lambda: cron("@daily", tz=""), ZoneUnknown),
        (lambda: every("often"), OptionInvalid),
        (lambda: every("0s"), OptionInvalid),
        (lambda: every("999ms"), OptionInvalid),
        (lambda: Every(0.0), OptionInvalid),
        (lambda: Every(float("nan")), OptionInvalid),
        (lambda: Every(float("inf")), OptionInvalid),
        (lambda: Every(True), OptionInvalid),
        (lambda: Every("60"), OptionInvalid),
        (lambda: once(datetime(2026, 5, 13, 10)), OptionInvalid),
        (lambda: once("2026-05-13"), OptionInvalid),
        (lambda: once(datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))), OptionInvalid),
    ],
)
def test_an_invalid_schedule_is_refused_at_construction(make, error):
    with pytest.raises(error):
        make()


def test_a_schedule_without_a_zone_uses_the_given_one():
    assert in_zone(cron("@daily"), BERLIN) == cron("@daily", tz=BERLIN)
    assert in_zone(cron("@daily", tz=NEW_YORK), BERLIN) == cron("@daily", tz=NEW_YORK)
    assert in_zone(every("1h"), BERLIN) == every("1h")
    assert first_run(cron("0 2 * * *"), NOW, BERLIN) == at("2026-05-14T00:00")
    assert first_run(cron("0 2 * * *"), NOW) == at("2026-05-14T02:00")
    assert first_run(cron("0 2 * * *", tz=NEW_YORK), NOW, BERLIN) == at("2026-05-14T06:00")
    assert next_run(cron("0 2 * * *"), NOW, NOW, BERLIN) == at("2026-05-14T00:00")
    with pytest.raises(ZoneUnknown):
        in_zone(cron("@daily"), "Europe/Berln")


def test_the_first_run_of_each_kind():
    assert first_run(cron("*/10 * * * *"), NOW) == at("2026-05-13T08:30")
    assert first_run(every("1h"), NOW) == NOW
    assert first_run(init(), NOW) == NOW
    assert first_run(once(at("2026-06-01T00:00")), NOW) == at("2026-06-01T00:00")
    assert first_run(once(at("2026-01-01T00:00")), NOW) == at("2026-01-01T00:00")


def test_the_next_run_of_each_kind():
    due = at("2026-05-13T08:20")

    assert next_run(cron("*/10 * * * *"), due, NOW) == at("2026-05-13T08:30")
    assert next_run(every("10m"), due, NOW) == at("2026-05-13T08:30")
    assert next_run(once(due), due, NOW) is None
    assert next_run(init(), due, NOW) is None
    assert next_run(init(run_once=False), due, NOW) is None
    assert next_run(every("10m"), None, NOW) == NOW


def test_a_clock_set_back_fires_no_due_time_again():
    due = at("2026-05-13T09:00")

    assert next_run(cron("*/10 * * * *"), due, NOW) == at("2026-05-13T09:10")
    assert next_run(every("10m"), due, NOW) == at("2026-05-13T09:10")
    assert fires(cron("*/10 * * * *"), due, NOW) == ((), due)


def test_an_interval_does_not_drift():
    due = at("2026-05-13T08:00")
    for _ in range(5):
        (fired,), due = fires(every("1m"), due, due + timedelta(seconds=9))

    assert (fired, due) == (at("2026-05-13T08:04"), at("2026-05-13T08:05"))


def test_an_interval_counts_elapsed_time_across_a_clock_change():
    due = at("2026-11-01T05:30")

    assert next_run(every("1d"), due, due) == at("2026-11-02T05:30")


@pytest.mark.parametrize("schedule", [cron("*/10 * * * *"), every("10m")], ids=str)
@pytest.mark.parametrize(
    ("misfire", "fired"),
    [
        ("fire_once", ["2026-05-13T08:20"]),
        ("skip", ["2026-05-13T08:20"]),
        ("all", ["2026-05-13T07:50", "2026-05-13T08:00", "2026-05-13T08:10", "2026-05-13T08:20"]),
    ],
)
def test_missed_due_times_follow_the_catch_up_policy(schedule, misfire, fired):
    found = fires(schedule, at("2026-05-13T07:50"), NOW, misfire)

    assert found.due == tuple(map(at, fired))
    assert found.next_run_at == at("2026-05-13T08:30")


@pytest.mark.parametrize("schedule", [cron("*/10 * * * *"), every("10m")], ids=str)
def test_skip_drops_due_times_older_than_the_grace(schedule):
    due, now = at("2026-05-13T07:50"), at("2026-05-13T08:21:01")

    assert fires(schedule, due, now, "skip") == ((), at("2026-05-13T08:30"))
    assert fires(schedule, due, now, "skip", grace=timedelta(minutes=2)) == (
        (at("2026-05-13T08:20"),),
        at("2026-05-13T08:30"),
    )
    assert fires(schedule, due, now, "fire_once").due == (at("2026-05-13T08:20"),)


@pytest.mark.parametrize("schedule", [cron("* * * * *"), every("1m")], ids=str)
def test_all_catches_up_at_most_a_hundred(schedule):
    found = fires(schedule, at("2020-01-01T00:00"), at("2026-05-13T08:20:07"), "all")

    assert len(found.due) == MOST_MISSED == 100
    assert found.due[0] == at("2026-05-13T06:41")
    assert found.due[-1] == at("2026-05-13T08:20")
    assert found.next_run_at == at("2026-05-13T08:21")


def test_a_due_time_of_exactly_now_fires():
    due = at("2026-05-13T08:20")

    for schedule in (cron("*/10 * * * *"), every("10m")):
        assert fires(schedule, due, due) == ((due,), at("2026-05-13T08:30"))


def test_a_stored_due_time_fires_after_the_rule_changed():
    """Zones change their rules, and schedules are edited, while a due time is already stored."""
    odd = at("2026-05-13T08:13")

    assert fires(cron("0 2 * * *"), odd, NOW) == ((odd,), at("2026-05-14T02:00"))
    assert fires(cron("*/10 * * * *"), odd, NOW, "all").due == (odd, at("2026-05-13T08:20"))


def test_once_fires_late_unless_it_is_skipped():
    due = at("2026-05-13T07:00")

    assert fires(once(due), due, NOW) == ((due,), None)
    assert fires(once(due), due, NOW, "all") == ((due,), None)
    assert fires(once(due), due, NOW, "skip") == ((), None)
    assert fires(once(due), due, due + timedelta(seconds=30), "skip") == ((due,), None)


def test_an_init_schedule_is_never_too_late():
    assert fires(init(), at("2026-05-13T07:00"), NOW, "skip") == ((at("2026-05-13T07:00"),), None)


def test_missed_times_around_a_clock_change_are_counted_once():
    nightly, due = cron("30 1 * * *", tz=NEW_YORK), at("2026-10-31T05:30")

    found = fires(nightly, due, at("2026-11-02T12:00"), "all")

    assert found.due == (due, at("2026-11-01T05:30"), at("2026-11-02T06:30"))
    assert found.next_run_at == at("2026-11-03T06:30")


schedules = st.one_of(
    st.builds(
        cron,
        st.sampled_from(["* * * * *", "30 1,2 * * *", "0 */2 * * *", "0 0 29 2 *", "5 4 1 * MON"]),
        tz=st.sampled_from(["UTC", NEW_YORK, "Europe/London", "Australia/Lord_Howe"]),
    ),
    st.floats(1, 10**9).map(Every),
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(once),
    st.booleans().map(InitSchedule),
)
instants = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@settings(deadline=None)
@given(schedules, instants, instants, st.sampled_from(["fire_once", "skip", "all"]))
def test_fired_times_are_due_and_the_next_one_is_not(schedule, due, now, misfire):
    found = fires(schedule, due, now, misfire)

    assert list(found.due) == sorted(set(found.due))
    assert all(due <= each <= now for each in found.due)
    assert len(found.due) <= (MOST_MISSED if misfire == "all" else 1)
    assert found.next_run_at is None or found.next_run_at > now
    if due <= now and misfire != "skip":
        assert found.due


@settings(deadline=None, max_examples=50)
@given(schedules, instants)
def test_firing_each_due_time_misses_none(schedule, now):
    due, walked = first_run(schedule, now), []
    for _ in range(5):
        if due is None:
            break
        found = fires(schedule, due, max(due, now), "all")
        assert found.due[-1] <= max(due, now)
        walked.extend(found.due)
        due = found.next_run_at

    assert walked == sorted(set(walked))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("*/15 * * * 1-5", "every 15 minutes on every weekday"),
        ("0 * * * *", "every hour"),
        ("30 * * * *", "every hour at minute 30"),
        ("0 */2 * * *", "every 2 hours from 00:00"),
        ("7 */6 * * *", "every 6 hours from 00:07"),
        ("0 2 * * *", "every day at 02:00"),
        ("@daily", "every day at 00:00"),
        ("@weekly", "every Sunday at 00:00"),
        ("@monthly", "on day 1 of every month at 00:00"),
        ("@yearly", "on day 1 of January at 00:00"),
        ("0,30 2,14 * * *", "every day at 02:00, 02:30, 14:00 and 14:30"),
        ("0 2 * * 1-5", "every weekday at 02:00"),
        ("0 9 * * MON,FRI", "every Monday and Friday at 09:00"),
        ("0 9 * * SUN,SAT", "every Saturday and Sunday at 09:00"),
        ("0 9 * 6-8 *", "every day in June, July and August at 09:00"),
        ("0 0 29 2 *", "on day 29 of February at 00:00"),
        ("0 0 1,15 * *", "on days 1 and 15 of every month at 00:00"),
        ("0 0 1 * MON", "on day 1 of every month and every Monday at 00:00"),
        ("0 0 1-31 * MON", "every day at 00:00"),
        ("7-59/13 9-17 * * *", 'at the times of "7-59/13 9-17 * * *"'),
        ("*/7 * * * *", 'at the times of "*/7 * * * *"'),
        ("0 0 */2 * MON", 'at the times of "0 0 */2 * MON"'),
        ("* 2 * * *", 'at the times of "* 2 * * *"'),
    ],
)
def test_common_expressions_have_descriptions_and_others_are_shown_raw(expression, said):
    assert describe(cron(expression, tz=BERLIN)) == f"{said} ({BERLIN})"


def test_other_kinds_have_descriptions():
    assert describe(cron("@daily"), BERLIN) == f"every day at 00:00 ({BERLIN})"
    assert describe(cron("@daily")) == "every day at 00:00 (UTC)"
    assert describe(every("15m")) == "every 15 minutes"
    assert describe(every("1h")) == "every hour"
    assert describe(every("90m")) == "every 90 minutes"
    assert describe(every(2.5)) == "every 2s500ms"
    assert describe(once(at("2026-06-01T00:00")), BERLIN) == "once, at Mon 2026-06-01 02:00 CEST"
    assert describe(init()) == "at start, until it has completed once"
    assert describe(init(run_once=False)) == "at each start"


def test_a_preview_marks_a_skipped_time():
    runs = preview(cron("30 2 * * *", tz=NEW_YORK), at("2027-03-12T12:00"), 3)

    assert runs == [
        (at("2027-03-13T07:30"), "Sat 2027-03-13 02:30 EST", ""),
        (
            at("2027-03-14T07:00"),
            "Sun 2027-03-14 03:00 EDT",
            "in place of 02:30, which the clocks skip on this day",
        ),
        (at("2027-03-15T06:30"), "Mon 2027-03-15 02:30 EDT", ""),
    ]


def test_a_preview_marks_a_repeated_time():
    nightly = preview(cron("30 1 * * *", tz=NEW_YORK), at("2026-10-31T12:00"), 2)
    hourly = preview(cron("30 * * * *", tz=NEW_YORK), at("2026-11-01T04:00"), 4)

    assert nightly == [
        (
            at("2026-11-01T05:30"),
            "Sun 2026-11-01 01:30 EDT",
            "01:30 comes twice on this day; it runs the first time only",
        ),
        (at("2026-11-02T06:30"), "Mon 2026-11-02 01:30 EST", ""),
    ]
    assert hourly == [
        (at("2026-11-01T04:30"), "Sun 2026-11-01 00:30 EDT", ""),
        (
            at("2026-11-01T05:30"),
            "Sun 2026-11-01 01:30 EDT",
            "01:30 comes twice on this day; this is the first time",
        ),
        (
            at("2026-11-01T06:30"),
            "Sun 2026-11-01 01:30 EST",
            "01:30 comes twice on this day; this is the second time",
        ),
        (at("2026-11-01T07:30"), "Sun 2026-11-01 02:30 EST", ""),
    ]


def test_a_preview_marks_an_omitted_step():
    runs = preview(cron("0 */2 * * *", tz=NEW_YORK), at("2026-03-08T04:30"), 3)

    assert [run.note for run in runs] == [
        "",
        "02:00 is left out before it: the clocks skip it on this day",
        "",
    ]


def test_a_preview_of_the_other_kinds():
    assert [run.at for run in preview(every("90s"), NOW, 3)] == [
        NOW,
        NOW + timedelta(seconds=90),
        NOW + timedelta(seconds=180),
    ]
    assert preview(every("90s"), NOW, 1, BERLIN)[0].local == "Wed 2026-05-13 10:20:07 CEST"
    assert [run.at for run in preview(once(NOW), NOW, 3)] == [NOW]
    assert preview(init(), NOW, 3) == []
    assert preview(every("1m"), NOW, 0) == []
    assert len(preview(every("1m"), NOW, 10**9)) == 1000


def test_surprising_schedules_have_warnings():
    now = at("2026-05-13T08:00")

    assert warnings(cron("0 9 1 * MON"), now) == [
        "It fires on days that fit the day of month or the weekday, not only on both."
    ]
    assert warnings(cron("0 9 */2 * MON"), now) == [
        "It fires only on days that fit both the day of month and the weekday."
    ]
    assert warnings(cron("30 2 * * *", tz=NEW_YORK), now) == [
        "On Sun 14 March 2027 the clocks in America/New_York go forward from 02:00 to 03:00: "
        "02:30 is skipped, and runs at 03:00 instead."
    ]
    assert warnings(cron("30 1 * * *", tz=NEW_YORK), now) == [
        "On Sun 1 November 2026 the clocks in America/New_York go back from 02:00 to 01:00: "
        "01:30 comes twice, and runs the first time only."
    ]
    assert warnings(cron("0 1-23/2 * * *", tz=NEW_YORK), now) == [
        "On Sun 1 November 2026 the clocks in America/New_York go back from 02:00 to 01:00: "
        "01:00 comes twice, and runs both times."
    ]
    assert warnings(cron("0 */2 * * *", tz=NEW_YORK), now) == [
        "On Sun 14 March 2027 the clocks in America/New_York go forward from 02:00 to 03:00: "
        "02:00 is skipped, and left out."
    ]
    assert warnings(cron("*/15 * * * *", tz=NEW_YORK), now) == []
    assert warnings(cron("0 12 * * *", tz=NEW_YORK), now) == []
    assert warnings(every("10s"), now) == ["It fires more than once a minute."]
    assert warnings(once(now), now) == ["That time is over."]
    assert warnings(init(), now) == []


@settings(deadline=None)
@given(schedules, instants)
def test_every_schedule_has_a_description(schedule, now):
    assert describe(schedule)
    assert isinstance(warnings(schedule, now), list)
    runs = preview(schedule, now, 3)
    assert [run.at for run in runs] == sorted({run.at for run in runs})
