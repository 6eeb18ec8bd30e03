"""JSON text that every database stores and returns unchanged."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.payloads.json_text import (
    DEEPEST,
    PAYLOAD_LIMIT,
    check_size,
    check_storable,
    dump_json,
    find_unstorable,
    load_json,
    load_object,
    read_json,
    size_of,
)
from windlass.errors import PayloadInvalid, PayloadTooLarge, PayloadUnstorable

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**53, 2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20
)


def nested(levels, inner=1):
    for _ in range(levels):
        inner = [inner]
    return inner


@given(json_values)
def test_accepted_values_round_trip(value):
    written = dump_json(value)

    assert load_json(written) == value
    assert load_json(written.encode()) == value
    assert repr(load_json(written)) == repr(value)


def test_text_is_compact():
    assert dump_json({"a": [1, None, True], "é": 1.5}) == '{"a":[1,null,true],"é":1.5}'


LARGEST = int(1.7976931348623157e308)


def test_integers_are_exact_within_the_range_of_a_double():
    assert dump_json({"n": 2**70}) == '{"n":1180591620717411303424}'
    assert load_json("1180591620717411303424") == 2**70
    for number in (LARGEST, -LARGEST, 10**308 + 1):
        assert load_json(dump_json(number)) == read_json(str(number)) == number


def test_a_number_stored_by_an_older_version_is_readable():
    assert load_json(str(10**400)) == 10**400


class Color(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    when: datetime


def test_values_with_a_lossy_json_form_are_written_in_it():
    value = {
        "when": datetime(2026, 3, 1, tzinfo=UTC),
        "id": UUID(int=5),
        "price": Decimal("1.10"),
        "color": Color.RED,
        "point": Point(1, datetime(2026, 3, 1)),
        "pair": (1, 2),
        7: "seven",
    }

    assert load_json(dump_json(value)) == {
        "when": "2026-03-01T00:00:00Z",
        "id": "00000000-0000-0000-0000-000000000005",
        "price": "1.10",
        "color": "red",
        "point": {"x": 1, "when": "2026-03-01T00:00:00"},
        "pair": [1, 2],
        "7": "seven",
    }


CIRCLE = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "pointer", "problem"),
    [
        ({"a": ["ok", "b\x00d"]}, "/a/1", "NUL"),
        ({"a/b": {"~": "\ud800"}}, "/a~1b/~0", "surrogate"),
        ({"a": {"\x00": 1}}, "/a", "key"),
        ({"a": {"\udfff": 1}}, "/a", "key"),
        ({"a": {(1, 2): 1}}, "/a", "key"),
        ({"a": {(): 1}}, "/a", "key"),
        ([1, float("nan")], "/1", "finite"),
        ({"a": float("-inf")}, "/a", "finite"),
        ({"a": Point(1, datetime(2026, 1, 1)), "b": object()}, "/b", "object"),
        ({"a": 10**5000}, "/a", "double"),
        ({"a": [10**309]}, "/a/0", "double"),
        ({"a": -(10**400)}, "/a", "double"),
        ({"a": (part for part in [1])}, "/a", "generator"),
        ({"a": b"\xff"}, "/a", "bytes"),
        (CIRCLE, "/0/0/0/0/0/0/0/0", "levels"),
        (nested(DEEPEST + 1), "/0/0/0/0/0/0/0/0", "levels"),
        (nested(5000), "/0/0/0/0/0/0/0/0", "levels"),
        (float("nan"), "", "finite"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_unstorable_values_are_refused_with_their_path(value, pointer, problem):
    with pytest.raises(PayloadUnstorable, match=problem) as caught:
        dump_json(value)

    assert caught.value.pointer == pointer
    assert caught.value.errors[0].pointer == pointer
    str(caught.value).encode()


def test_the_deepest_value_allowed_is_stored():
    assert load_json(dump_json(nested(DEEPEST))) == nested(DEEPEST)
    assert dump_json(nested(DEEPEST - 1, []))
    with pytest.raises(PayloadUnstorable):
        dump_json(nested(DEEPEST, []))


@pytest.mark.parametrize(
    "harmless",
    ["\\u0000", "\\\\u0000", "NaN", "-Infinity", "[" * 100, "{[" * 100, "😀", "\x01\x1f\x7f"],
)
def test_text_that_looks_dangerous_is_stored(harmless):
    assert load_json(dump_json({harmless: harmless})) == {harmless: harmless}


@given(st.text())
def test_text_and_value_checks_agree(value):
    stored = json.dumps(value, ensure_ascii=False)

    try:
        check_storable(stored)
    except PayloadUnstorable:
        assert find_unstorable(value) is not None
    else:
        assert find_unstorable(value) is None


@pytest.mark.parametrize(
    "wrong",
    ["", "{", "nul", "NaN", "[Infinity]", "-Infinity", "1e400", "[" * 100_000, b"\xff", "1" * 5000,
     "{'a': 1}"],
    ids=lambda wrong: repr(wrong[:10]),
)  # fmt: skip
def test_invalid_json_is_refused(wrong):
    with pytest.raises(PayloadUnstorable):
        load_json(wrong)


def test_the_error_names_the_value():
    with pytest.raises(PayloadUnstorable, match="metadata cannot be stored"):
        dump_json({"a": object()}, what="metadata")


def test_a_stored_payload_is_an_object():
    assert load_object('{"a":1}', "mail.send") == {"a": 1}
    for wrong in ("[]", "null", "{"):
        with pytest.raises(PayloadInvalid, match=r"mail\.send"):
            load_object(wrong, "mail.send")


@given(text, st.integers(0, 100))
def test_size_is_counted_in_bytes(value, limit):
    assert size_of(value) == len(value.encode())
    if size_of(value) > limit:
        with pytest.raises(PayloadTooLarge) as caught:
            check_size(value, "mail.send", limit)
        assert (caught.value.size, caught.value.limit) == (size_of(value), limit)
    else:
        check_size(value, "mail.send", limit)


def test_the_limit_is_exact():
    check_size("x" * PAYLOAD_LIMIT, "mail.send")
    with pytest.raises(PayloadTooLarge):
        check_size("é" * (PAYLOAD_LIMIT // 2) + "x", "mail.send")


@given(json_values)
def test_external_json_is_read_like_stored_json(value):
    written = dump_json(value)

    assert repr(read_json(written)) == repr(read_json(json.dumps(value))) == repr(value)


@pytest.mark.parametrize(
    ("given", "pointer", "problem"),
    [
        ('{"a": 1, "b": {"c": [0, {"x": 1, "x": 1}]}}', "/b/c/1/x", "twice"),
        ('{"a": {}, "a": {}}', "/a", "twice"),
        ('{"a": 1, "\\u0061": 2}', "/a", "twice"),
        ('{"n": [1e400]}', "/n/0", "double"),
        ('{"n": -1E999}', "/n", "double"),
        ('{"n": 1' + "0" * 400 + "}", "/n", "double"),
        (f'{{"n": {LARGEST * 2}}}', "/n", "double"),
        ('{"n": 1' + "0" * 100_000 + "}", "/n", "double"),
        ('{"n": NaN}', "/n", "finite"),
        ("[-Infinity]", "/0", "finite"),
        ('{"a": "x\\u0000"}', "/a", "NUL"),
        ('{"a": {"\\u0000": 1}}', "/a", "key"),
        ('{"a": "\\ud800"}', "/a", "surrogate"),
        ('{"a": "\\uDFFF\\uD800"}', "/a", "surrogate"),
        ('{"\\udc00": 1}', "", "key"),
        ("[" * 65 + "]" * 65, "/0/0/0/0/0/0/0/0", "levels"),
        ("[" * 100_000, "", "levels"),
        ("{", "", "not JSON"),
        ("", "", "not JSON"),
        (b"\xff", "", "UTF-8"),
    ],
    ids=lambda part: part[:20] if isinstance(part, str) else None,
)
def test_external_json_is_refused_with_its_path(given, pointer, problem):
    with pytest.raises(PayloadUnstorable, match=problem) as caught:
        read_json(given)

    assert caught.value.pointer == pointer


def test_astral_characters_may_be_escaped():
    assert read_json('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}
