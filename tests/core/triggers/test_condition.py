"""Conditions on an event's data: strict when saved, and defined for any data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.function_calls import counted_calls
from windlass.core.triggers.condition import CONDITION_LIMIT, parse
from windlass.errors import ConditionInvalid

OPERATORS = ["eq", "ne", "in", "not_in", "starts_with", "ends_with", "contains", "gt", "gte", "lt",
             "lte", "exists"]  # fmt: skip

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
plain = st.none() | st.booleans() | st.integers() | st.text("ab", max_size=3)
names = st.sampled_from(["a", "b", "a.b", "a.0", "b.a.a"])
data = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=8,
)


def holds(condition, data):
    return parse(condition).holds(data)


def problems(condition):
    with pytest.raises(ConditionInvalid) as caught:
        parse(condition)
    return {error.pointer: error.message for error in caught.value.errors}


@pytest.mark.parametrize(
    ("wanted", "met", "unmet"),
    [
        ("published", "published", "Published"),
        (True, True, 1),
        (1, 1.0, True),
        (0, 0, False),
        (None, None, ""),
        ("1", "1", 1),
        ({"eq": 2**80}, 2**80, 2**80 + 1),
        ({"ne": "draft"}, "published", "draft"),
        ({"ne": 1}, True, 1.0),
        ({"in": ["Pages", "Posts"]}, "Posts", "Media"),
        ({"in": [None, 1]}, None, True),
        ({"not_in": ["Pages", "Posts"]}, "Media", "Pages"),
        ({"starts_with": "image/"}, "image/png", "text/image/"),
        ({"starts_with": "1"}, "12", 12),
        ({"ends_with": ".pdf"}, "a.pdf", "a.pdf.exe"),
        ({"contains": "b"}, "abc", "xyz"),
        ({"contains": "b"}, ["a", "b"], ["abc"]),
        ({"contains": 1}, [1.0], [True]),
        ({"contains": 1}, [1], "1"),
        ({"contains": "b"}, "b", {"b": 1}),
        ({"gt": 5}, 5.5, 5),
        ({"gte": 5}, 5, 4),
        ({"lt": 5}, -1, 5),
        ({"lte": 5}, 5, 6),
        ({"gt": 0}, 1, True),
        ({"gt": 1}, 2, "2"),
        ({"gte": "2026-03-01"}, "2026-03-01T10:00", "2026-02-28"),
        ({"gt": 10, "lt": 20}, 15, 25),
        ({"exists": True}, None, ...),
        ({"exists": False}, ..., None),
    ],
)
def test_an_operator_matches_or_does_not(wanted, met, unmet):
    def with_field(value):
        return {} if value is ... else {"field": value}

    assert holds({"field": wanted}, with_field(met))
    assert not holds({"field": wanted}, with_field(unmet))


@pytest.mark.parametrize("operator", [name for name in OPERATORS if name != "exists"])
def test_an_absent_field_matches_nothing(operator):
    operand = ["x"] if operator in ("in", "not_in") else "x"

    assert not holds({"field": {operator: operand}}, {"other": "x"})
    assert not holds({"field.x": {operator: operand}}, {"field": "x"})


def test_all_fields_must_match():
    condition = {
        "model": {"in": ["Pages", "Posts", "Categories"]},
        "changed.status.to": "published",
        "mime_type": {"starts_with": "image/"},
        "notifications": True,
        "files.0.name": {"exists": True},
    }
    event = {
        "model": "Posts",
        "changed": {"status": {"from": "draft", "to": "published"}},
        "mime_type": "image/png",
        "notifications": True,
        "files": [{"name": "x"}],
    }

    assert holds(condition, event)
    for name in event:
        assert not holds(condition, {**event, name: "something else"})


def test_an_empty_condition_always_matches():
    assert holds({}, {"a": 1})
    assert holds({}, None)
    assert parse({}).words() == "always"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"status": "published"}, 'status is "published"'),
        ({"on": True, "by": None}, "on is true, and by is null"),
        ({"model": {"in": ["A", "B", "C"]}}, 'model is "A", "B" or "C"'),
        ({"model": {"in": ["A"]}}, 'model is "A"'),
        ({"model": {"not_in": ["A", "B"]}}, 'model is not "A" or "B"'),
        ({"mime_type": {"starts_with": "image/"}}, 'mime_type starts with "image/"'),
        ({"size": {"gt": 10, "lte": 2.5}}, "size is more than 10, and size is at most 2.5"),
        ({"size": {"gte": 1, "lt": 3}}, "size is at least 1, and size is less than 3"),
        ({"a.b": {"exists": True}}, "a.b is there"),
        ({"a.b": {"exists": False}}, "a.b is not there"),
        ({"n": {"in": list(range(12))}}, "n is 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or one of 2 more"),
    ],
)
def test_a_condition_is_described_in_words(condition, words):
    assert parse(condition).words() == words


@pytest.mark.parametrize(
    ("condition", "pointer", "said"),
    [
        ([], "", "not an object"),
        ("x", "", "not an object"),
        ({"": 1}, "/", "is no field"),
        ({"a b": 1}, "/a b", "is no field"),
        ({"a..b": 1}, "/a..b", "is no field"),
        ({"a": [1, 2]}, "/a", "takes text, a number"),
        ({"a": {}}, "/a", "asks nothing"),
        ({"a": {"startswith": "x"}}, "/a/startswith", "did you mean starts_with?"),
        ({"status": {"to": "x"}}, "/status/to", '"status.to"'),
        ({"a": {"$where": "x"}}, "/a/$where", "not an operator"),
        ({"a": {"eq": {"b": 1}}}, "/a/eq", "takes"),
        ({"a": {"in": "text"}}, "/a/in", "takes a list"),
        ({"a": {"in": []}}, "/a/in", "takes a list"),
        ({"a": {"in": [[1]]}}, "/a/in", "takes a list"),
        ({"a": {"in": ["x"] * 101}}, "/a/in", "takes a list"),
        ({"a": {"starts_with": ""}}, "/a/starts_with", "not empty"),
        ({"a": {"ends_with": 1}}, "/a/ends_with", "takes text"),
        ({"a": {"gt": True}}, "/a/gt", "takes a number"),
        ({"a": {"lt": None}}, "/a/lt", "takes a number"),
        ({"a": {"exists": 1}}, "/a/exists", "true or false"),
        ({"a": "\x00"}, "/a", "NUL"),
        ({"a": float("nan")}, "/a", "finite"),
        ({"a": "x" * CONDITION_LIMIT}, "", "limit"),
        ({f"f{number}": 1 for number in range(33)}, "", "33 fields"),
    ],
)
def test_an_unusable_condition_is_refused(condition, pointer, said):
    found = problems(condition)

    assert list(found) == [pointer]
    assert said in found[pointer]


def test_every_invalid_place_is_named():
    assert problems({"a": [], "b": {"in": 1, "gt": {}}, "c c": 1}).keys() == {
        "/a",
        "/b/in",
        "/b/gt",
        "/c c",
    }


def test_large_data_is_evaluated_cheaply():
    condition = parse({f"f{n}": {"contains": "a" * 100 + "b"} for n in range(30)})
    event = {f"f{n}": "a" * 10_000 for n in range(30)}

    with counted_calls() as calls:
        assert not condition.holds(event)

    assert calls.count < 1000


@given(values, values)
def test_any_condition_is_parsed_or_refused(condition, event):
    try:
        parsed = parse(condition)
    except ConditionInvalid:
        return

    assert isinstance(parsed.holds(event), bool)
    assert parsed.words()


@given(names, st.sampled_from(OPERATORS), plain | st.lists(plain, max_size=3), data)
def test_any_data_can_be_evaluated(name, operator, operand, event):
    try:
        condition = parse({name: {operator: operand}})
    except ConditionInvalid:
        return

    assert condition.holds(event) in (True, False)
    assert isinstance(condition.words(), str)


@given(names, plain, data)
def test_exactly_one_of_equal_and_not_equal_matches_a_present_field(name, wanted, event):
    there = holds({name: {"exists": True}}, event)

    assert holds({name: {"eq": wanted}}, event) + holds({name: {"ne": wanted}}, event) == there
    assert holds({name: {"in": [wanted]}}, event) == holds({name: wanted}, event)
