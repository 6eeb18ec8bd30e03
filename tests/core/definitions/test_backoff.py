"""Backoff: the delay before each retry."""

import json
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.definitions.backoff import Backoff, delay
from windlass.errors import OptionInvalid

seconds = st.floats(0, 100_000)
kinds = st.one_of(
    st.builds(
        lambda base, more, factor, jitter: Backoff.exponential(
            base, factor=factor, cap=base + more, jitter=jitter
        ),
        seconds,
        seconds,
        st.floats(1, 1000),
        seconds,
    ),
    st.builds(Backoff.fixed, seconds, jitter=seconds),
    st.lists(seconds, min_size=1, max_size=10).map(lambda delays: Backoff.listed(*delays)),
    st.just(Backoff.none()),
)
attempts = st.integers() | st.sampled_from([0, -1, 1, 10**9, 10**400])


def seconds_after(backoff, made, seed=0):
    return delay(backoff, made, Random(seed)).total_seconds()


def test_the_default_doubles_from_five_seconds_to_five_minutes_with_a_second_of_jitter():
    calm = Backoff.exponential(jitter=0)

    assert Backoff() == Backoff.exponential("5s", factor=2, cap="5m", jitter="1s")
    assert [seconds_after(calm, n) for n in range(1, 9)] == [5, 10, 20, 40, 80, 160, 300, 300]
    assert 5 <= seconds_after(Backoff(), 1) <= 6


def test_slow_backoff_can_be_configured():
    slow = Backoff.exponential("60s", cap="1h", jitter=0)

    assert [seconds_after(slow, n) for n in (1, 2, 3)] == [60, 120, 240]


def test_fixed_backoff_is_constant():
    assert {seconds_after(Backoff.fixed("60s"), n) for n in range(-2, 20)} == {60}


def test_a_list_backoff_repeats_its_last_delay():
    backoff = Backoff.listed("60s", "5m", "15m")

    assert [seconds_after(backoff, n) for n in range(6)] == [60, 60, 300, 900, 900, 900]


def test_none_has_no_delay():
    assert seconds_after(Backoff.none(), 7) == 0


def test_the_same_seed_gives_the_same_delay():
    assert seconds_after(Backoff(), 3, seed=7) == seconds_after(Backoff(), 3, seed=7)
    assert seconds_after(Backoff(), 3, seed=7) != seconds_after(Backoff(), 3, seed=8)


@given(kinds, attempts, st.integers())
def test_any_attempt_number_stays_in_bounds(backoff, made, seed):
    waits = delay(backoff, made, Random(seed))

    assert timedelta() <= waits
    if backoff.kind == "exponential":
        cap = timedelta(seconds=backoff.cap)
        assert min(cap, timedelta(seconds=backoff.base)) <= waits <= cap


@given(st.floats(0, 1000), st.floats(1, 10), attempts)
def test_without_jitter_delays_never_decrease(base, factor, made):
    backoff = Backoff.exponential(base, factor=factor, cap=100_000, jitter=0)

    assert seconds_after(backoff, made + 1) >= seconds_after(backoff, made)


@given(kinds)
def test_json_round_trips(backoff):
    assert Backoff.from_json(json.loads(json.dumps(backoff.to_json()))) == backoff


def test_json_may_omit_defaults():
    assert Backoff.from_json({}) == Backoff()
    assert Backoff.from_json({"kind": "fixed", "base_seconds": 60}) == Backoff.fixed(60)
    assert Backoff.from_json({"kind": "none"}) == Backoff.none()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "linear"},
        {"base": 5},
        {"base_seconds": -1},
        {"base_seconds": "5s"},
        {"base_seconds": True},
        {"base_seconds": float("nan")},
        {"factor": 0.5},
        {"cap_seconds": 1},
        {"kind": "list"},
        {"kind": "list", "delays_seconds": 5},
        {"kind": "list", "delays_seconds": [1, "2"]},
        {"kind": "list", "delays_seconds": [1] * 101},
    ],
    ids=str,
)
def test_an_invalid_backoff_is_refused(wrong):
    with pytest.raises(OptionInvalid):
        Backoff.from_json(wrong)
