"""Latency buckets, percentiles, and the observations of a process."""

import pytest

from windlass.core.leases.lease import LeasedJob
from windlass.core.monitoring.latency import (
    BOUNDS_MS,
    ENDLESS_MS,
    LONGEST_MS,
    MOST_OF_TENANTS,
    Histogram,
    LatencyBuffer,
    LatencyPair,
    Percentiles,
    sample,
)
from windlass.ids import DefinitionKey, QueueName, TenantId


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
    tally.ran([(_job(""), seconds) for seconds in (0.012, 0.06, 0.061)])
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
    tally.ran([(_job("acme"), 1e9), (_job("acme"), -0.5)])

    taken = tally.take()

    assert [(o.kind, o.upto_ms, o.observed) for o in taken if not o.tenant_id] == [
        ("run", LONGEST_MS, 0),
        ("run", 1, 1),
        ("run", ENDLESS_MS, 1),
    ]
    assert [o.seconds for o in taken if o.upto_ms == LONGEST_MS] == [1e9, 1e9]
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


def test_histograms_are_summed():
    whole = Histogram({1: 1}, 0.5, longest=0.1)

    whole.add_all(Histogram({1: 2, 5: 1}, 0.25, longest=0.2))

    assert whole == Histogram({1: 3, 5: 1}, 0.75, longest=0.2)
    assert set(whole.observed) <= set(BOUNDS_MS)


def test_each_tenant_has_a_histogram_beside_that_of_all():
    tally = LatencyBuffer()
    tally.ran([(_job("acme"), 0.003), (_job("globex"), 0.003)])

    counts = {o.tenant_id: o.observed for o in tally.take() if o.upto_ms != LONGEST_MS}

    assert counts == {"": 2, "acme": 1, "globex": 1}


def test_beyond_a_number_of_tenants_only_all_are_counted():
    tally = LatencyBuffer()
    tally.ran([(_job(f"t{n}"), 0.003) for n in range(MOST_OF_TENANTS + 10)])

    counts = {o.tenant_id: o.observed for o in tally.take() if o.upto_ms != LONGEST_MS}
    tally.ran([(_job("later"), 0.003)])

    assert counts.pop("") == MOST_OF_TENANTS + 10
    assert len(counts) == MOST_OF_TENANTS
    assert {o.tenant_id for o in tally.take()} == {"", "later"}


def test_percentiles_of_nothing_are_unknown():
    assert set(LatencyPair().percentiles) == {None}
    assert Percentiles.of(Histogram({100: 10}), Histogram()).p50_wait_seconds == 0.075


def _job(tenant):
    return LeasedJob(
        tenant=TenantId(tenant),
        definition=DefinitionKey("send"),
        queue=QueueName("mail"),
        attempts=1,
        max_attempts=3,
        ran_seconds=0.0,
        cancel_requested=False,
    )
