"""Ids: UUIDv7 that increase, and their suffixes."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass import clock, ids
from windlass.ids import (
    new_event_id,
    new_job_id,
    new_trigger_id,
    parse_job_id,
    parse_suffix,
    short,
    stored_id,
    uuid7,
)

milliseconds = st.integers(0, 2**48 - 1)
counters = st.integers(0, 2**42 - 1)
tails = st.integers(0, 2**32 - 1)


@given(milliseconds, counters, tails)
def test_an_id_is_a_uuid_of_version_7_with_its_time_in_front(ms, counter, tail):
    created = uuid7(ms, counter, tail)

    assert (created.version, created.variant) == (7, RFC_4122)
    assert created.int >> 80 == ms
    assert UUID(str(created)) == created


@given(st.tuples(milliseconds, counters), st.tuples(milliseconds, counters), tails, tails)
def test_ids_sort_by_millisecond_then_counter(one, other, tail, other_tail):
    before, after = sorted([one, other])

    if before != after:
        assert uuid7(*before, tail) < uuid7(*after, other_tail)


def test_ids_of_one_process_increase():
    created = [new_job_id() for _ in range(6000)]

    assert created == sorted(set(created))


def test_ids_increase_when_the_clock_steps_back(monkeypatch):
    before = new_job_id()
    monkeypatch.setattr(clock, "unix_ns", lambda: 1_000_000)

    assert new_job_id() > before


def test_a_full_counter_advances_to_the_next_millisecond(monkeypatch):
    source = ids._IdGenerator()
    monkeypatch.setattr(clock, "unix_ns", lambda: 1_000_000_000)
    first = source.make()
    source._counter = 2**42 - 1

    after = source.make()

    assert first.int >> 80 == 1000
    assert after.int >> 80 == 1001
    assert source.make() > after


def test_threads_get_distinct_ids():
    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(lambda _: new_job_id(), range(20_000)))

    assert len(set(created)) == len(created)


def test_a_forked_child_has_its_own_randomness(monkeypatch):
    source = ids._IdGenerator()
    source.make()
    used = list(source._tails)

    source.reset()  # what a fork does in the child
    source.make()

    assert list(source._tails) != used


def test_every_kind_of_id_is_generated_the_same_way():
    created = [new_job_id(), new_trigger_id(), new_event_id()]

    assert created == sorted(set(created))


def test_an_id_behaves_like_any_uuid():
    created = new_job_id()

    assert pickle.loads(pickle.dumps(created)) == created
    assert hash(created) == hash(UUID(created.hex))
    assert created.is_safe is UUID(created.hex).is_safe


def test_short_is_the_last_eight_characters():
    created = new_job_id()

    assert short(created) == str(created)[-8:]


@given(milliseconds, counters, tails)
def test_an_id_round_trips_through_text(ms, counter, tail):
    created = uuid7(ms, counter, tail)

    assert stored_id(str(created)) == created
    assert hash(stored_id(str(created))) == hash(created)


@given(milliseconds, counters, tails)
def test_a_whole_id_is_parsed_with_or_without_dashes(ms, counter, tail):
    created = uuid7(ms, counter, tail)

    assert parse_job_id(str(created)) == created
    assert parse_job_id(f"  {created.hex.upper()} ") == created
    assert parse_suffix(short(created)) == short(created)


@pytest.mark.parametrize("text", ["", "8c1f4", "8c1f42dz", "x" * 32, "0" * 33, "job 8c1f42d7"])
def test_invalid_ids_are_refused(text):
    assert parse_job_id(text) is None
    assert parse_suffix(text) is None or len(text) >= 6


def test_a_suffix_needs_six_characters():
    assert parse_suffix("8c1f4") is None
    assert parse_suffix("8C1F42") == "8c1f42"
    assert parse_suffix("0-8c1f42d7") == "08c1f42d7"
    assert parse_job_id("8c1f42d7") is None
