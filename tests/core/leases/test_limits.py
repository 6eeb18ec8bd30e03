"""Limits, gates and rates: pure rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import DEFAULT_TENANT
from windlass.core.leases import gates
from windlass.core.leases.lease import JobLine
from windlass.core.leases.limits import Limit
from windlass.core.leases.rate_limits import Rate, rate
from windlass.core.payloads.json_text import dump_json
from windlass.errors import OptionInvalid
from windlass.ids import DefinitionKey, QueueName, TenantId

MAIL = Definition(key=DefinitionKey("mail.send"), title="Mail")


def a_line(gate):
    return JobLine(queue=QueueName("default"), tenant=TenantId("acme"), gate=gate)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100/min", Rate(100, 60)),
        ("5/s", Rate(5, 1)),
        ("1000 / 1h", Rate(1000, 3600)),
        ("3/10s", Rate(3, 10)),
        ("7/day", Rate(7, 86400)),
    ],
)
def test_a_rate_is_parsed_from_text(text, expected):
    assert rate(text, option="rate_limit") == expected
    assert rate(str(expected), option="rate_limit") == expected


@pytest.mark.parametrize(
    "text", ["", "100", "0/min", "-1/min", "1/fortnight", "1/8d", "x/s", 7, None]
)
def test_an_invalid_rate_is_refused(text):
    with pytest.raises(OptionInvalid, match="rate_limit"):
        rate(text, option="rate_limit")


@given(
    st.text(max_size=40)
    | st.from_regex(
        r"\s?[0-9]{1,12}\s?/\s?[0-9.]{0,9}\s?(s|sec|m|min|h|hour|d|day|x)\s?", fullmatch=True
    )
    | st.none()
    | st.integers()
    | st.binary()
)
def test_any_text_is_a_rate_or_refused(given):
    try:
        found = rate(given, option="rate_limit")
    except OptionInvalid:
        return
    assert 1 <= found.most < 2**31
    assert 0 < found.seconds <= 7 * 86_400
    assert rate(str(found), option="rate_limit").most == found.most


@given(st.text(min_size=1, max_size=100), st.integers(1, 10_000))
def test_a_gate_contains_definition_version_and_key_flag(key, version):
    definition = Definition(key=DefinitionKey("mail.send"), title="Mail", version=version)

    gate = gates.own_gate(definition, DEFAULT_TENANT, key)

    assert gates.definition_of(gate) == "mail.send"
    assert gates.version_of(gate) == version
    assert gates.counted_by(gate) is not None
    assert len(gate) <= 255


@given(st.sets(st.text(min_size=1, max_size=60), min_size=2, max_size=2))
def test_two_keys_never_share_a_gate(keys):
    one, other = (gates.own_gate(MAIL, DEFAULT_TENANT, key) for key in keys)

    assert one != other


def test_a_key_that_looks_like_a_digest_is_not_mistaken_for_one():
    long = gates.own_gate(MAIL, DEFAULT_TENANT, "x" * 100)
    written = long.partition(gates.KEY)[2]

    assert gates.own_gate(MAIL, DEFAULT_TENANT, written) != long


@given(st.text(min_size=1, max_size=40), st.sets(st.text(min_size=1), min_size=2, max_size=2))
def test_limit_keys_are_per_tenant(key, tenants):
    one, other = (gates.own_gate(MAIL, tenant, key) for tenant in tenants)

    assert gates.counted_by(one) != gates.counted_by(other)


@given(st.text(min_size=1, max_size=100), st.integers(2, 10_000))
def test_a_key_counts_across_payload_versions(key, version):
    later = Definition(key=DefinitionKey("mail.send"), title="Mail", version=version)

    first, other = (gates.own_gate(each, DEFAULT_TENANT, key) for each in (MAIL, later))

    assert first != other
    assert gates.counted_by(first) == gates.counted_by(other)


@pytest.mark.parametrize("key", ["mail\x1esend", "mail\x1fsend", "", "a" * 192, "a\x00b", None])
def test_a_definition_key_contains_no_gate_separator(key):
    with pytest.raises(OptionInvalid):
        gates.check_key(key)


def test_a_first_version_job_without_a_key_has_the_common_gate():
    assert gates.own_gate(MAIL, DEFAULT_TENANT, None) is None


def test_a_worker_passes_known_versions_and_no_later_one():
    known = gates.needs({"mail.send": 2, "plain": 1})

    assert known == ["mail.send", "plain", "mail.send\x1f2"]


@pytest.mark.parametrize(
    ("payload", "key"),
    [
        ({"account": {"id": 7}}, "7"),
        ({"account": {"id": "acme"}}, "acme"),
        ({"account": {"id": True}}, "true"),
        ({"account": {"id": None}}, None),
        ({"account": {"id": [1]}}, None),
        ({"account": 5}, None),
        ({}, None),
    ],
)
def test_a_limit_key_is_a_scalar_of_the_payload(payload, key):
    assert gates.key_in(payload, "args.account.id") == key


_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=5,
)


@given(JSON, st.sampled_from(["args.a", "args.a.b", "args.b.a.b", "args.", "args", "a..b"]))
def test_any_payload_has_a_limit_key_or_none(payload, path):
    definition = Definition(key=DefinitionKey("mail.send"), title="Mail", limit_key=path)

    gate = gates.gate_for(definition, DEFAULT_TENANT, dump_json(payload))

    assert gate is None or len(gate.encode()) <= len("mail.send") + 1 + 4 * 32
    assert gate is None or gates.definition_of(gate) == "mail.send"


def test_a_limit_names_what_a_job_counts_under():
    limit = Limit("definition:mail.send", 10, 2, 100, 60.0, 5, 1.0)
    keyed = gates.own_gate(MAIL, DEFAULT_TENANT, "acme")

    assert list(limit.capacities(a_line("mail.send"))) == [
        ("definition:mail.send", "running", 10),
        ("definition:mail.send", "begun", 100),
    ]
    assert list(limit.capacities(a_line(keyed)))[2:] == [
        (gates.counted_by(keyed), "running", 2),
        (gates.counted_by(keyed), "begun", 5),
    ]
    assert limit.target == ("definition:mail.send", "mail.send", None, None, True)
