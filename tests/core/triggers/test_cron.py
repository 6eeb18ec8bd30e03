"""Cron expressions: parsing, due times, clock changes."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count, islice, pairwise

import pytest
from cronsim import CronSim
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windlass.core.triggers.cron import LONGEST, WORDS, last_before, next_after, parse
from windlass.core.triggers.time_zones import zone
from windlass.errors import ScheduleInvalid, ScheduleNeverFires, ZoneUnknown

MINUTE = timedelta(minutes=1)
NEW_YORK, LONDON, LORD_HOWE = "America/New_York", "Europe/London", "Australia/Lord_Howe"
KOLKATA = "Asia/Kolkata"


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def following(expression, tz, after, how_many):
    parsed, found = parse(expression), []
    for _ in range(how_many):
        after = next_after(parsed, zone(tz), after)
        found.append(after)
    return found


#: Clocks go from 02:00 to 03:00 in New York on 8 March 2026 at 07:00 UTC, and from 02:00 back to
#: 01:00 on 1 November at 06:00 UTC. In London: 29 March and 25 October, both at 01:00 UTC. On Lord
#: Howe Island by half an hour: 02:00 to 01:30 on 4 April at 15:00 UTC, 02:00 to 02:30 on 3 October
#: at 15:30 UTC. In Kolkata (UTC+5:30) and in UTC never.
CLOCK_CHANGES = [
    # Fixed hours. A skipped time fires at the end of the gap.
    (NEW_YORK, "30 2 * * *", "2026-03-07T12:00",
     ["2026-03-08T07:00", "2026-03-09T06:30", "2026-03-10T06:30"]),
    (NEW_YORK, "0 2,3 * * *", "2026-03-07T12:00",
     ["2026-03-08T07:00", "2026-03-09T06:00", "2026-03-09T07:00"]),
    (NEW_YORK, "*/30 2 * * *", "2026-03-07T12:00",
     ["2026-03-08T07:00", "2026-03-09T06:00", "2026-03-09T06:30"]),
    (LONDON, "30 1 * * *", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]),
    (LORD_HOWE, "15 2 * * *", "2026-10-03T00:00", ["2026-10-03T15:30", "2026-10-04T15:15"]),
    (LORD_HOWE, "30 2 * * *", "2026-10-03T00:00", ["2026-10-03T15:30", "2026-10-04T15:30"]),
    # A repeated one fires the first time.
    (NEW_YORK, "30 1 * * *", "2026-10-31T12:00",
     ["2026-11-01T05:30", "2026-11-02T06:30", "2026-11-03T06:30"]),
    (NEW_YORK, "30 1 * * *", "2026-11-01T05:45", ["2026-11-02T06:30"]),
    (NEW_YORK, "30 1 * * *", "2026-11-01T06:15", ["2026-11-02T06:30"]),
    (NEW_YORK, "*/30 1 * * *", "2026-10-31T12:00",
     ["2026-11-01T05:00", "2026-11-01T05:30", "2026-11-02T06:00"]),
    (NEW_YORK, "0 0-23 * * *", "2026-11-01T04:30",
     ["2026-11-01T05:00", "2026-11-01T07:00", "2026-11-01T08:00"]),
    (LONDON, "30 1 * * *", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
    (LORD_HOWE, "45 1 * * *", "2026-04-04T00:00", ["2026-04-04T14:45", "2026-04-05T15:15"]),
    # Hourly, and by minutes: the rhythm continues.
    (NEW_YORK, "0 * * * *", "2026-03-08T05:30",
     ["2026-03-08T06:00", "2026-03-08T07:00", "2026-03-08T08:00"]),
    (NEW_YORK, "0 * * * *", "2026-11-01T04:30",
     ["2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01T07:00", "2026-11-01T08:00"]),
    (NEW_YORK, "*/15 * * * *", "2026-11-01T05:40",
     ["2026-11-01T05:45", "2026-11-01T06:00", "2026-11-01T06:15"]),
    (LONDON, "0 * * * *", "2026-10-24T23:30",
     ["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"]),
    (LONDON, "*/30 * * * *", "2026-03-29T00:15",
     ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"]),
    (LORD_HOWE, "*/15 * * * *", "2026-04-04T14:40",
     ["2026-04-04T14:45", "2026-04-04T15:00", "2026-04-04T15:15"]),
    (LORD_HOWE, "0 * * * *", "2026-04-04T13:30",
     ["2026-04-04T14:00", "2026-04-04T15:30", "2026-04-04T16:30"]),
    (LORD_HOWE, "0 * * * *", "2026-10-03T14:00",
     ["2026-10-03T14:30", "2026-10-03T16:00", "2026-10-03T17:00"]),
    # Stepped hours: whenever the clocks show a time that fits.
    (NEW_YORK, "0 */2 * * *", "2026-03-08T04:30",
     ["2026-03-08T05:00", "2026-03-08T08:00", "2026-03-08T10:00"]),
    (NEW_YORK, "0 */2 * * *", "2026-11-01T03:30",
     ["2026-11-01T04:00", "2026-11-01T07:00", "2026-11-01T09:00"]),
    (NEW_YORK, "0 1-23/2 * * *", "2026-11-01T04:30",
     ["2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01T08:00"]),
    (LONDON, "15 */3 * * *", "2026-10-24T22:00",
     ["2026-10-24T23:15", "2026-10-25T03:15", "2026-10-25T06:15"]),
    (LORD_HOWE, "0 */2 * * *", "2026-10-03T13:00",
     ["2026-10-03T13:30", "2026-10-03T17:00", "2026-10-03T19:00"]),
    # Day of month or weekday.
    (NEW_YORK, "30 2 8 * MON", "2026-03-07T12:00",
     ["2026-03-08T07:00", "2026-03-09T06:30", "2026-03-16T06:30"]),
    (NEW_YORK, "30 1 1 11 SUN", "2026-10-31T12:00", ["2026-11-01T05:30", "2026-11-08T06:30"]),
    (NEW_YORK, "0 9 13 * FRI", "2026-02-28T12:00", ["2026-03-06T14:00", "2026-03-13T13:00"]),
    (LONDON, "30 1 25 10 MON", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
    (LORD_HOWE, "0 */12 4 10 MON", "2026-10-03T12:00",
     ["2026-10-03T13:30", "2026-10-04T01:00", "2026-10-04T13:00", "2026-10-05T01:00"]),
    # Where clocks never change.
    (KOLKATA, "30 2 * * *", "2026-03-07T12:00", ["2026-03-07T21:00", "2026-03-08T21:00"]),
    (KOLKATA, "0 * * * *", "2026-03-07T18:00", ["2026-03-07T18:30", "2026-03-07T19:30"]),
    (KOLKATA, "0 */2 * * *", "2026-03-07T18:00",
     ["2026-03-07T18:30", "2026-03-07T20:30", "2026-03-07T22:30"]),
    (KOLKATA, "0 9 1 * MON", "2026-02-28T00:00",
     ["2026-03-01T03:30", "2026-03-02T03:30", "2026-03-09T03:30"]),
    ("UTC", "30 2 * * *", "2026-03-08T02:30", ["2026-03-09T02:30", "2026-03-10T02:30"]),
    ("UTC", "0 * * * *", "2026-11-01T05:00", ["2026-11-01T06:00", "2026-11-01T07:00"]),
    ("UTC", "*/20 */6 * * *", "2026-03-08T00:10",
     ["2026-03-08T00:20", "2026-03-08T00:40", "2026-03-08T06:00"]),
    ("UTC", "0 9 1 * MON", "2026-02-28T00:00",
     ["2026-03-01T09:00", "2026-03-02T09:00", "2026-03-09T09:00"]),
    # A whole day that Samoa skipped: 30 December 2011.
    ("Pacific/Apia", "0 2 * * *", "2011-12-29T00:00",
     ["2011-12-29T12:00", "2011-12-30T10:00", "2011-12-30T12:00"]),
    ("Pacific/Apia", "0 */6 * * *", "2011-12-30T03:00",
     ["2011-12-30T04:00", "2011-12-30T10:00", "2011-12-30T16:00"]),
]  # fmt: skip


@pytest.mark.parametrize(("tz", "expression", "after", "expected"), CLOCK_CHANGES)
def test_clock_changes_fire_as_documented(tz, expression, after, expected):
    instants = [at(text) for text in expected]

    assert following(expression, tz, at(after), len(expected)) == instants
    assert all(
        last_before(parse(expression), zone(tz), late) == early
        for early, late in pairwise(instants)
    )


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("0 0 29 2 *", "2026-01-01T00:00", ["2028-02-29T00:00", "2032-02-29T00:00"]),
        ("0 0 29 2 *", "2096-02-29T00:00", ["2104-02-29T00:00"]),
        ("0 0 29 2 */7", "2026-01-01T00:00", ["2032-02-29T00:00", "2060-02-29T00:00"]),
        ("0 0 29 2 */7", "2088-02-29T00:00", ["2128-02-29T00:00"]),
        ("59 23 31 12 *", "2026-12-31T23:59", ["2027-12-31T23:59"]),
        ("* * * * *", "2026-12-31T23:59", ["2027-01-01T00:00", "2027-01-01T00:01"]),
        ("0 0 31 * *", "2026-01-31T00:00", ["2026-03-31T00:00", "2026-05-31T00:00"]),
        ("0 0 30 2 MON", "2026-01-31T00:00", ["2026-02-02T00:00", "2026-02-09T00:00"]),
        ("0 0 */10 * *", "2026-01-02T00:00",
         ["2026-01-11T00:00", "2026-01-21T00:00", "2026-01-31T00:00", "2026-02-01T00:00"]),
        ("0 0 * * 7", "2026-01-01T00:00", ["2026-01-04T00:00"]),
        ("0 0 * * 5-7", "2026-01-01T00:00",
         ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00", "2026-01-09T00:00"]),
        ("0 0 */2 * MON", "2026-03-01T00:00", ["2026-03-09T00:00", "2026-03-23T00:00"]),
        ("5/20 * * * *", "2026-01-01T00:00",
         ["2026-01-01T00:05", "2026-01-01T00:25", "2026-01-01T00:45", "2026-01-01T01:05"]),
        ("3-3/2 0 * * *", "2026-01-01T00:00", ["2026-01-01T00:03", "2026-01-02T00:03"]),
        ("0 0 1 jan,Jul *", "2026-01-01T00:00", ["2026-07-01T00:00", "2027-01-01T00:00"]),
        ("0 0 * FEB-mar SUN-tue", "2026-02-03T00:00", ["2026-02-08T00:00", "2026-02-09T00:00"]),
    ],
)  # fmt: skip
def test_the_calendar_is_followed(expression, after, expected):
    assert following(expression, "UTC", at(after), len(expected)) == [at(text) for text in expected]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("@yearly", "2027-01-01T00:00"),
        ("@annually", "2027-01-01T00:00"),
        ("@monthly", "2026-06-01T00:00"),
        ("@weekly", "2026-05-17T00:00"),
        ("@daily", "2026-05-14T00:00"),
        ("@midnight", "2026-05-14T00:00"),
        ("@hourly", "2026-05-13T09:00"),
        (" @Daily ", "2026-05-14T00:00"),
    ],
)
def test_macros_stand_for_common_expressions(word, expected):
    assert following(word, "UTC", at("2026-05-13T08:20"), 1) == [at(expected)]


def test_due_times_are_whole_minutes():
    late = at("2026-05-13T08:20") + timedelta(seconds=1.5)

    assert next_after(parse("20 8 * * *"), zone("UTC"), late) == at("2026-05-14T08:20")
    assert last_before(parse("20 8 * * *"), zone("UTC"), late) == at("2026-05-13T08:20")
    assert last_before(parse("20 8 * * *"), zone("UTC"), at("2026-05-13T08:20")) == at(
        "2026-05-12T08:20"
    )


def test_a_day_and_two_hours_from_a_repeated_hour_are_computed():
    """Such far readings are approached in two steps, the first of which could lead back."""
    new_york = zone(NEW_YORK)

    assert next_after(parse("45 3/21 2 11 *"), new_york, at("2026-11-01T06:30")) == at(
        "2026-11-02T08:45"
    )
    assert last_before(parse("59 23/1 30 10 *"), new_york, at("2026-11-01T12:00")) == at(
        "2026-10-31T03:59"
    )


def test_the_end_of_the_calendar_has_no_next():
    assert next_after(parse("@daily"), zone("UTC"), datetime.max.replace(tzinfo=UTC)) is None
    assert last_before(parse("@daily"), zone("UTC"), datetime.min.replace(tzinfo=UTC)) is None
    assert next_after(parse("@hourly"), zone(KOLKATA), datetime.max.replace(tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("expression", "field", "reason", "hint"),
    [
        ("61 2 * * *", "minute", "`61` is not a minute.", "Use 0–59"),
        ("0 24 * * *", "hour", "`24` is not an hour.", "Use 0–23"),
        ("0 0 0 * *", "day of month", "`0` is not a day of month.", "Use 1–31"),
        ("0 0 * 13 *", "month", "`13` is not a month.", "Use 1–12 or JAN–DEC"),
        ("0 0 * * 8", "weekday", "`8` is not a weekday.", "Use 0–7 or SUN–SAT"),
        ("0 0 * * MONDAY", "weekday", "`MONDAY` is not a weekday.", "Use 0–7 or SUN–SAT"),
        ("JAN 0 * * *", "minute", "`JAN` is not a minute.", "Use 0–59"),
        ("*/90 * * * *", "minute", "`90` is no step.", "a step of 1–59"),
        ("*/0 * * * *", "minute", "`0` is no step.", "a step of 1–59"),
        ("*/ * * * *", "minute", "`` is no step.", "a step of 1–59"),
        ("1,,2 * * * *", "minute", "A minute is missing.", "Use 0–59"),
        ("1- * * * *", "minute", "A minute is missing in `1-`.", "Use 0–59"),
        ("1-2-3 * * * *", "minute", "`2-3` is not a minute.", "Use 0–59"),
        ("-1 * * * *", "minute", "A minute is missing in `-1`.", "Use 0–59"),
        ("* 22-4 * * *", "hour", "`22-4` goes backwards.", "`22-23,0-4`"),
        ("* * * * FRI-SUN", "weekday", "`FRI-SUN` goes backwards.", "`5-7`"),
        ("* * * * FRI-TUE", "weekday", "`FRI-TUE` goes backwards.", "`FRI-6,0-TUE`"),
        ("0 0 L * *", "day of month", "`L` is not a day of month.", "Use 1–31"),
        ("0 0 ? * *", "day of month", "`?` is not a day of month.", "Use 1–31"),
        ("0 0 * * MON#2", "weekday", "`MON#2` is not a weekday.", "Use 0–7"),
        ("** * * * *", "minute", "`**` is not a minute.", "Use 0–59"),
        ("٣ * * * *", "minute", "`\\u0663` is not a minute.", "Use 0–59"),
        ("* * * * ſun", "weekday", "`\\u017fun` is not a weekday.", "Use 0–7"),
        ("", "", "It has no fields instead of 5.", "minute, hour, day of month, month and weekday"),
        ("* * * *", "", "It has 4 fields instead of 5.", "minute, hour"),
        ("0 0 2 * * *", "", "It has 6 fields instead of 5.", "minute, hour"),
        ("@reboot", "", "`@reboot` is no time.", "`init()`"),
        ("@often", "", "It is none of the words that begin with @.", "@hourly"),
        ("* " * 200, "", "It has 400 characters.", f"at most {LONGEST} characters"),
        (None, "", "It is no text.", "five fields"),
        (["* * * * *"], "", "It is no text.", "five fields"),
    ],
)
def test_an_error_names_the_field_and_the_allowed_values(expression, field, reason, hint):
    with pytest.raises(ScheduleInvalid) as caught:
        parse(expression)

    assert caught.value.field == field
    assert caught.value.reason.endswith(reason)
    assert hint in caught.value.hint
    assert "for example" in caught.value.hint


def test_examples_in_errors_are_valid():
    for expression in ("61 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 8", "*"):
        with pytest.raises(ScheduleInvalid) as caught:
            parse(expression)

        assert parse(caught.value.hint.split("`")[-2])


def test_an_expression_that_never_fires_is_refused():
    with pytest.raises(ScheduleNeverFires) as caught:
        parse("0 2 31 2 *", "Europe/Berlin")

    error = caught.value.named("Nightly sync")
    assert error.message == '"Nightly sync" cannot be saved: "0 2 31 2 *" never fires.'
    assert error.reason == "February has no day 31."
    assert error.hint == (
        "Use a day from 1 to 29, for example `0 2 28 2 *`. See the dates first: "
        '`windlass schedules preview "0 2 28 2 *" --tz Europe/Berlin`.'
    )


@pytest.mark.parametrize("expression", ["0 0 30 FEB *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 2 */2"])
def test_impossible_days_never_fire(expression):
    with pytest.raises(ScheduleNeverFires):
        parse(expression)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("utc", "UTC"),
        ("xyzzy", None),
        ("", None),
        ("America", None),
        ("localtime", None),
        ("right/UTC", None),
        ("../../etc/passwd", None),
        ("/etc/localtime", None),
        ("Europe/Berlin\0", "Europe/Berlin"),
        ("\ud800", None),
        ("A" * 1000, None),
        (None, None),
        (3, None),
    ],
)
def test_an_unknown_zone_is_refused_with_a_suggestion(name, near):
    with pytest.raises(ZoneUnknown) as caught:
        zone(name)

    if near is not None:
        assert caught.value.near == near
    assert str(caught.value).encode()


# Against a walk through every minute, which knows nothing of cronsim or of our rules' code.

FIELDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]


@st.composite
def terms(draw, low, high):
    kind = draw(st.sampled_from(["*", "*/n", "a", "a-b", "a-b/n"]))
    first = draw(st.integers(low, high))
    last = draw(st.integers(first, high))
    step = draw(st.integers(1, high))
    return {
        "*": ("*", range(low, high + 1)),
        "*/n": (f"*/{step}", range(low, high + 1, step)),
        "a": (f"{first}", range(first, first + 1)),
        "a-b": (f"{first}-{last}", range(first, last + 1)),
        "a-b/n": (f"{first}-{last}/{step}", range(first, last + 1, step)),
    }[kind]


@st.composite
def expressions(draw):
    """Text, and what it means: the values of each field."""
    parts = [draw(st.lists(terms(low, high), min_size=1, max_size=3)) for low, high in FIELDS]
    text = " ".join(",".join(term for term, _ in part) for part in parts)
    return text, [{value for _, values in part for value in values} for part in parts]


def fits(text, values, reading):
    fields = text.split()
    minutes, hours, days, months, weekdays = values
    by_day = reading.day in days
    by_weekday = bool({reading.isoweekday(), reading.isoweekday() % 7} & weekdays)
    both = fields[2][0] == "*" or fields[4][0] == "*"
    return (
        reading.minute in minutes
        and reading.hour in hours
        and reading.month in months
        and (by_day and by_weekday if both else by_day or by_weekday)
    )


@lru_cache(maxsize=64)
def clock(tz, start, minutes):
    """The local time at each of the minutes from `start`, and whether it is a repeated one."""
    instants = [start + MINUTE * n for n in range(minutes)]
    return [(one, one.astimezone(zone(tz)).replace(tzinfo=None)) for one in instants]


def walked(text, values, tz, start, minutes):
    """Every firing from `start`, found by looking at each minute of the clocks."""
    fixed = not set("*/") & set(text.split()[1])
    found, shown = [], None
    for instant, reading in clock(tz, start, minutes):
        skipped = []
        if fixed and shown is not None and reading - shown > MINUTE:
            gap = (reading - shown) // MINUTE
            skipped = [shown + MINUTE * n for n in range(1, gap)]
        again = fixed and reading.fold
        if any(fits(text, values, each) for each in skipped) or (
            fits(text, values, reading) and not again
        ):
            found.append(instant)
        shown = reading
    return found


STARTS = st.sampled_from(
    [
        ("UTC", at("2027-12-30T00:00")),
        ("UTC", at("2028-02-28T00:00")),
        (KOLKATA, at("2026-06-29T12:00")),
        ("Asia/Tokyo", at("2026-01-31T03:00")),
        (NEW_YORK, at("2026-03-07T20:00")),
        (NEW_YORK, at("2026-10-31T20:00")),
        (LONDON, at("2026-03-28T12:00")),
        (LONDON, at("2026-10-24T12:00")),
        (LORD_HOWE, at("2026-04-03T20:00")),
        (LORD_HOWE, at("2026-10-03T00:00")),
        ("America/Santiago", at("2026-04-04T12:00")),
        ("America/Santiago", at("2026-09-05T12:00")),
        ("Pacific/Apia", at("2011-12-29T00:00")),
        ("Africa/Casablanca", at("2026-02-14T12:00")),
    ]
)
MINUTES = 2 * 24 * 60
#: Of the firings found on each side; enough to cross any change of the clocks.
MOST = 70
ANY_DAY = [set(range(32))] * 3


@settings(max_examples=150, deadline=None)
@given(expressions(), STARTS, st.integers(0, MINUTES - 1))
@example(("*/30 2 * * *", [{0, 30}, {2}, *ANY_DAY]), (NEW_YORK, at("2026-03-07T20:00")), 0)
@example(("* 1 * * *", [set(range(60)), {1}, *ANY_DAY]), (LONDON, at("2026-10-24T12:00")), 775)
@example(("* 1 * * *", [set(range(60)), {1}, *ANY_DAY]), (LONDON, at("2026-10-24T12:00")), 805)
@example(
    (
        "* * 6-28 * 3-5",
        [set(range(60)), set(range(24)), set(range(6, 29)), set(range(13)), {3, 4, 5}],
    ),
    (NEW_YORK, at("2026-10-31T20:00")),
    1389,
)
def test_due_times_match_a_minute_by_minute_search(expression, where, minute):
    text, values = expression
    tz, start = where
    here = start + MINUTE * minute
    expected = walked(text, values, tz, start, MINUTES)
    try:
        parsed = parse(text)
    except ScheduleNeverFires:
        assert expected == []
        return

    def found(step, from_, to):
        while (from_ := step(parsed, zone(tz), from_)) is not None and start <= from_ < to:
            yield from_

    later = islice(found(next_after, here, start + MINUTE * MINUTES), MOST)
    earlier = islice(found(last_before, here, here), MOST)

    assert list(later) == [each for each in expected if each > here][:MOST]
    assert list(earlier) == [each for each in reversed(expected) if each < here][:MOST]


@settings(deadline=None)
@given(
    expressions(),
    st.sampled_from([NEW_YORK, LONDON, LORD_HOWE, KOLKATA, "UTC", "Pacific/Apia", "Africa/Cairo"]),
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
)
def test_next_is_after_and_previous_not_after_the_start(expression, tz, after):
    try:
        parsed = parse(expression[0])
    except ScheduleNeverFires:
        return

    found = next_after(parsed, zone(tz), after)

    assert found > after
    assert found.second == found.microsecond == 0
    assert last_before(parsed, zone(tz), found) <= after


ALPHABET = "0123456789*/-,@ LW#?\t\nJANMONdailyſ٣\ud800"


@given(st.text() | st.text(ALPHABET, max_size=40) | st.lists(st.text(ALPHABET)).map(" ".join))
def test_any_text_is_an_expression_or_refused(text):
    try:
        parsed = parse(text)
    except ScheduleInvalid as error:
        str(error).encode()  # it can be printed
    else:
        assert next_after(parsed, zone("UTC"), at("2026-01-01T00:00")) is not None


@settings(deadline=None)
@given(
    expressions(),
    st.sampled_from([NEW_YORK, LONDON, LORD_HOWE, "Pacific/Apia"]),
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
    | st.sampled_from([at("2081-01-01T00:00"), at("2026-11-01T05:59"), at("2011-12-30T10:00")]),
)
@example(("0 0 29 2 */7", []), NEW_YORK, at("2088-03-01T00:00"))
@example(("59 */23 29 2 */7", []), NEW_YORK, at("2088-03-01T00:00"))
@example(("* 1 * * *", []), NEW_YORK, at("2026-11-01T06:00"))
@example(("* 2 * * *", []), "Pacific/Apia", at("2011-12-30T10:00"))
@example(("* * 6-28 * 3-5", []), NEW_YORK, at("2026-11-01T19:09"))
def test_the_work_per_call_is_bounded(expression, tz, start):
    try:
        parsed = parse(expression[0])
    except ScheduleNeverFires:
        return

    with at_most_steps(6_000):
        next_after(parsed, zone(tz), start)
        last_before(parsed, zone(tz), start)


@contextmanager
def at_most_steps(limit):
    """Fails, even in the midst of an endless loop, when cronsim looks at more days and times."""
    steps = count(1)

    def counting(method):
        def counted(*args, **options):
            assert next(steps) <= limit, "too much work for one answer"
            return method(*args, **options)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        for name in ("tick", "match_day"):
            patch.setattr(CronSim, name, counting(getattr(CronSim, name)))
        yield


def test_the_macros_are_valid_expressions():
    assert all(parse(word).plain == parse(WORDS[word]).plain for word in WORDS)
