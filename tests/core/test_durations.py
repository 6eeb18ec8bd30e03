"""Durations: parsed from text, and described in words."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.durations import LONGEST, duration, text, words
from windlass.errors import OptionInvalid

durations = st.timedeltas(timedelta(), LONGEST)


@given(durations)
def test_durations_round_trip_through_text(value):
    assert duration(text(value)) == value


@given(durations)
def test_a_timedelta_is_accepted(value):
    assert duration(value) is value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2m", timedelta(minutes=2)),
        ("1h30m", timedelta(minutes=90)),
        ("1h 30m", timedelta(minutes=90)),
        (" 250ms ", timedelta(milliseconds=250)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(days=14)),
        ("1.5s", timedelta(milliseconds=1500)),
        ("0s", timedelta()),
        ("5us", timedelta(microseconds=5)),
        (90, timedelta(seconds=90)),
        (0.25, timedelta(milliseconds=250)),
        (0, timedelta()),
    ],
)
def test_durations_are_parsed_from_text(written, meant):
    assert duration(written) == meant


@pytest.mark.parametrize(
    "written",
    ["", " ", "90", "m", "2x", "-2m", "2m1h", "1m1m", "1h30", "1e3s", "٣s", "1 0s", "nan", "2m!",
     "9" * 12 + "d", "1s" * 60, -1, -0.5, float("nan"), float("inf"), 1e300, True, None, [],
     timedelta(seconds=-1), LONGEST + timedelta(microseconds=1)],
)  # fmt: skip
def test_an_invalid_duration_is_refused_with_the_option_name(written):
    with pytest.raises(OptionInvalid) as caught:
        duration(written, option="delay")

    assert caught.value.option == "delay"


@given(st.text())
def test_any_text_is_a_duration_or_refused(written):
    try:
        assert timedelta() <= duration(written) <= LONGEST
    except OptionInvalid:
        pass


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (timedelta(), "0 s"),
        (timedelta(milliseconds=250), "250 ms"),
        (timedelta(seconds=4.9), "4 s"),
        (timedelta(minutes=2), "2 min"),
        (timedelta(seconds=90), "1 min 30 s"),
        (timedelta(hours=2, minutes=5, seconds=9), "2 h 5 min"),
        (timedelta(days=3, minutes=4), "3 d"),
        (timedelta(days=1234, hours=5), "1,234 d 5 h"),
        (timedelta(seconds=-4), "0 ms"),
    ],
)
def test_descriptions_are_short(value, said):
    assert words(value) == said


@given(st.timedeltas())
def test_every_duration_has_a_description(value):
    assert words(value)
