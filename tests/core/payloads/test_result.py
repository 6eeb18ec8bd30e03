"""Results of handlers become JSON that can be stored."""

import json
from dataclasses import dataclass
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from windlass.core.payloads.json_text import check_storable, load_json
from windlass.core.payloads.result import RESULT_LIMIT, encode_anything, encode_result
from windlass.errors import ResultInvalid, ResultTooLarge

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=[]))
    | st.binary()
    | st.dates()
    | st.uuids()
    | st.decimals()
    | st.builds(object)
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=[])) | st.integers() | st.binary(), inner
        )
    ),
    max_leaves=20,
)


@dataclass
class Total:
    day: date
    sum: int


class Model(BaseModel):
    name: str
    key: SecretStr


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")


class HostileDict(dict):
    def items(self):
        raise RuntimeError("no")


@given(anything, st.integers(100, 5000))
def test_any_value_becomes_storable_json(value, limit):
    text, note = encode_anything(value, limit)

    check_storable(text)
    load_json(text)
    assert len(text.encode()) <= limit
    assert note is None or note


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (None, None),
        ({"a": [1, 2.5, "x", True]}, {"a": [1, 2.5, "x", True]}),
        (Total(date(2026, 3, 1), 5), {"day": "2026-03-01", "sum": 5}),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        (2**70, 2**70),
        (b"text", "text"),
    ],
)
def test_json_values_are_stored_without_a_warning(value, stored):
    text, note = encode_result(value)

    assert json.loads(text) == stored
    assert note is None


@given(anything, st.integers(100, 5000))
def test_a_result_is_stored_completely_or_refused(value, limit):
    try:
        text, _ = encode_result(value, limit)
    except (ResultInvalid, ResultTooLarge):
        return

    check_storable(text)
    assert len(text.encode()) <= limit


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"ok": 1, "of": {"s": slice(1, 2)}}, "/of/s is of type slice, which JSON does not know"),
        ([1.5, float("nan")], "/1 is nan, not a finite number"),
        (object(), "it is of type object, which JSON does not know"),
        ({(1, 2): 3}, "it has a key that cannot be stored: [1, 2]"),
        ({"a": "\x00", "b": slice(1)}, "it is or has a slice, which JSON does not know"),
    ],
)
def test_an_unserializable_result_is_refused_with_its_path(value, said):
    with pytest.raises(ResultInvalid) as refused:
        encode_result(value)

    assert refused.value.message == f"the handler's result cannot be stored: {said}."


def test_an_oversized_result_is_refused_with_its_size():
    with pytest.raises(ResultTooLarge, match="has 1,310,721 bytes, the limit is 262,144"):
        encode_result(["é"] * RESULT_LIMIT)


def test_an_unserializable_value_is_kept_as_its_repr_with_a_warning():
    text, note = encode_anything({"ok": 1, "s": slice(1, 2), "nan": float("nan")}, RESULT_LIMIT)

    assert json.loads(text) == {"ok": 1, "s": "slice(1, 2, None)", "nan": "nan"}
    assert note == "not JSON, stored as text: float, slice"


@pytest.mark.parametrize(
    ("key", "stored", "note"),
    [
        (1.5, "1.5", None),
        (True, "true", None),
        (None, "null", None),
        (float("nan"), "nan", "not JSON, stored as text: float"),
        ((1, 2), "(1, 2)", "not JSON, stored as text: tuple"),
    ],
)
def test_a_key_without_a_json_form_becomes_text_with_a_warning(key, stored, note):
    alone = encode_anything({key: 1}, RESULT_LIMIT)
    beside_text_to_replace = encode_anything({key: 1, "a": "\x00"}, RESULT_LIMIT)[0]

    assert alone == (json.dumps({stored: 1}, separators=(",", ":")), note)
    assert list(json.loads(beside_text_to_replace)) == [stored, "a"]


def test_unstorable_characters_are_replaced_and_marked():
    text, note = encode_result({"a\x00": ["b\ud800", "fine"]})

    assert json.loads(text) == {"a\ufffd": ["b\ufffd", "fine"]}
    assert note == "characters that cannot be stored were replaced"


def test_a_truncatable_result_keeps_its_beginning():
    text, note = encode_result(["é"] * RESULT_LIMIT, truncate=True)

    kept = json.loads(text)
    assert kept["truncated"] is True
    assert kept["bytes"] == RESULT_LIMIT * 5 + 1
    assert kept["head"].startswith('["é","é"')
    assert len(text.encode()) <= RESULT_LIMIT
    assert "1,310,721 bytes" in note


def test_escaping_shortens_the_kept_beginning():
    text, _ = encode_anything('\x01"' * 1000, 120)

    assert len(text.encode()) <= 120


def test_a_generator_is_not_consumed():
    def endless():
        while True:
            yield 1

    text, note = encode_anything(endless(), RESULT_LIMIT)

    assert "generator" in json.loads(text)
    assert note


def test_circular_and_exploding_values_terminate():
    circle = []
    circle += [circle, circle]

    text, note = encode_anything(circle, RESULT_LIMIT)

    assert len(text.encode()) <= RESULT_LIMIT
    assert note


@pytest.mark.parametrize(
    "value",
    [Hostile(), [Hostile()], HostileDict(a=1), {Hostile(): 1}, 10**5000],
    ids=["object", "list", "dict", "key", "int"],
)
def test_misbehaving_objects_are_kept_by_type_and_refused_as_results(value):
    text, note = encode_anything(value, RESULT_LIMIT)

    load_json(text)
    assert note or text == '{"<Hostile>":1}' or isinstance(value, dict)
    if not isinstance(value, dict) or type(value) is dict:
        with pytest.raises(ResultInvalid):
            encode_result(value)


def test_a_model_is_stored_with_its_secrets_hidden():
    text, note = encode_result(Model(name="ada", key=SecretStr("hunter2")))

    assert "hunter2" not in text
    assert json.loads(text)["name"] == "ada"
    assert note is None
