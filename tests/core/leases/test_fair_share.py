"""Sharing one claim between tenants: all slots are given out, and no tenant is left out."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from windlass.core.leases.fair_share import limit_quotas, share_quotas
from windlass.core.leases.lease import JobLine, Quota
from windlass.core.leases.limits import Limit
from windlass.ids import QueueName, TenantId

MAIL = QueueName("mail")

tenants = st.dictionaries(st.text("abcdef", min_size=1), st.integers(1, 1000), max_size=12)


def lines_of(weights, gates=("",)):
    return [
        JobLine(queue=MAIL, tenant=TenantId(tenant), gate=gate, weight=weight)
        for tenant, weight in weights.items()
        for gate in gates
    ]


def shares_of(lines, wanted):
    return {quota.line.tenant: quota.tenant_limit for quota in share_quotas(lines, wanted)}


@given(tenants, st.integers(1, 500))
def test_all_slots_are_given_out(weights, wanted):
    shares = shares_of(lines_of(weights), wanted)

    assert sum(shares.values()) == (wanted if weights else 0)


@given(tenants, st.integers(1, 500))
def test_as_many_tenants_as_possible_are_served_in_turn(weights, wanted):
    shares = shares_of(lines_of(weights), wanted)

    assert list(shares) == list(weights)[:wanted]
    assert all(share >= 1 for share in shares.values())


@given(tenants.filter(bool), st.integers(1, 500))
def test_a_larger_weight_never_gives_less(weights, wanted):
    shares = shares_of(lines_of(weights), wanted)

    for one in shares:
        for other in shares:
            if weights[one] > weights[other]:
                # Rounding gives one more to those whose turn it is.
                assert shares[one] >= shares[other] - 1


@given(st.lists(st.integers(1, 10), min_size=1, max_size=8))
def test_evenly_divisible_shares_equal_the_weights(weights):
    by_tenant = {str(place): weight for place, weight in enumerate(weights)}

    shares = shares_of(lines_of(by_tenant), 5 * sum(weights))

    assert shares == {tenant: 5 * weight for tenant, weight in by_tenant.items()}


def test_a_single_tenant_gets_all_slots():
    assert shares_of(lines_of({"acme": 1}), 100) == {"acme": 100}


def test_the_lines_of_a_tenant_divide_its_share():
    quotas = share_quotas(lines_of({"acme": 1, "globex": 1}, gates=("", "limited")), 10)

    assert [(q.line.tenant, q.line.gate, q.line_limit, q.tenant_limit) for q in quotas] == [
        ("acme", "", 5, 5),
        ("acme", "limited", 5, 5),
        ("globex", "", 5, 5),
        ("globex", "limited", 5, 5),
    ]


def test_queues_share_like_tenants():
    lines = [JobLine(queue=QueueName(queue), tenant=TenantId("acme"), gate="") for queue in "ab"]

    assert [(q.line.queue, q.line_limit) for q in share_quotas(lines, 5)] == [("a", 3), ("b", 2)]


limits = st.sets(st.sampled_from(["definition:a", "definition:b", "tenant:x"]))
limited = st.builds(
    lambda names, limit: Quota(
        line=JobLine(queue=MAIL, tenant=TenantId("x"), gate="a", limits=tuple(sorted(names))),
        line_limit=limit,
        tenant_limit=limit,
    ),
    limits,
    st.integers(1, 20),
)
rooms = st.fixed_dictionaries(
    {name: st.integers(0, 30) for name in ("definition:a", "definition:b", "tenant:x")}
)


@given(st.lists(limited, max_size=8), rooms)
def test_limits_hold_and_no_wanted_capacity_is_left(wanted, rooms):
    limits = {name: Limit(name, max_running=30) for name in rooms}
    allowed = limit_quotas(
        wanted, limits, {(name, "running"): room for name, room in rooms.items()}
    )

    taken = Counter()
    for quota in allowed:
        for name in quota.line.limits:
            taken[name] += quota.line_limit
    assert all(taken[name] <= room for name, room in rooms.items())
    free = [quota for quota in wanted if not quota.line.limits]
    assert [quota for quota in allowed if not quota.line.limits] == free
    for name, room in rooms.items():
        requested = sum(q.line_limit for q in wanted if q.line.limits == (name,))
        others = any(len(q.line.limits) > 1 and name in q.line.limits for q in wanted)
        assert others or taken[name] == min(room, requested)


def test_a_limit_that_cannot_be_counted_gives_nothing():
    [quota] = [
        Quota(
            line=JobLine(queue=MAIL, tenant=TenantId("x"), gate="a", limits=("definition:a",)),
            line_limit=1,
            tenant_limit=1,
        )
    ]

    assert limit_quotas([quota], {}, {}) == []
