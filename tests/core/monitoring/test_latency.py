"""Latency buckets, percentiles, and the observations of a process."""

import pytest

from windlass.core.monitoring.latency import (
    BOUNDS_MS,
    ENDLESS_MS,
    LONGEST_MS,
    Histogram,
    HistogramKey,
    LatencyBuffer,
    merge_histograms,
    sample,
)


def test_a_percentile_is_interpolated_in_its_bucket():
    histogram = Histogram({100: 10, 250: 10})

    assert histogram.percentile(0.5) == 0.1
    assert histogram.percentile(0.75) == 0.175
    assert histogram.percentile(1.0) == 0.25


def test_beyond_the_last_bound_the_bound_is_returned():
    histogram = Histogram({1000: 1, ENDLESS_MS: 9})

    assert histogram.percentile(0.95) == 7200.0


@pytest.mark.parametrize("share", [0.5, 0.95, 1.0])
def test_a_percentile_never_exceeds_the_maximum(share):
    tally = LatencyBuffer()
    tally.observe("run", [("mail", "send", seconds) for seconds in (0.012, 0.06, 0.061)])
    histogram = Histogram()
    for each in tally.take():
        histogram.add(each.upto_ms, each.observed, each.seconds)

    assert histogram.longest == 0.061
    assert histogram.percentile(share) <= 0.061
    assert histogram.percentile(1.0) == 0.061


def test_a_missing_maximum_does_not_bound_a_percentile():
    histogram = Histogram({100: 1, 5000: 9}, longest=0.07)

    assert histogram.percentile(0.95) > 2.5


def test_an_empty_histogram_has_no_percentile():
    assert Histogram().percentile(0.5) is None


def test_observations_are_taken_once_and_can_be_restored():
    tally = LatencyBuffer()
    tally.observe("wait", [("mail", "send", 0.003), ("mail", "send", 0.004)])
    tally.observe("run", [("mail", "send", 1e9), ("mail", "send", -0.5)])

    taken = tally.take()

    assert [(o.kind, o.upto_ms, o.observed) for o in taken] == [
        ("run", LONGEST_MS, 0),
        ("run", 1, 1),
        ("run", ENDLESS_MS, 1),
        ("wait", LONGEST_MS, 0),
        ("wait", 5, 2),
    ]
    assert [o.seconds for o in taken if o.upto_ms == LONGEST_MS] == [1e9, 0.004]
    assert tally.take() == []
    tally.put_back(taken)
    assert tally.take() == taken


def test_a_large_batch_is_sampled_and_counted_completely():
    some, weight = sample(range(500))

    assert len(some) <= 64
    assert abs(len(some) * weight - 500) < weight


def test_a_small_batch_is_not_sampled():
    assert sample([1, 2, 3]) == ([1, 2, 3], 1)
    assert sample([]) == ([], 1)


def test_histograms_of_one_kind_are_merged():
    found = {
        HistogramKey("wait", "a", "x"): Histogram({1: 1}, 0.5),
        HistogramKey("wait", "b", "y"): Histogram({1: 2, 5: 1}, 0.25),
        HistogramKey("run", "a", "x"): Histogram({10: 7}, 9.0),
    }

    whole = merge_histograms(found, "wait")

    assert whole == Histogram({1: 3, 5: 1}, 0.75)
    assert set(whole.observed) <= set(BOUNDS_MS)
