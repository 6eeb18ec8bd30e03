"""Parsing of typed payloads."""

import io

import pytest

from windlass.cli.text.parse_payload import full_payload, split_pairs, typed
from windlass.errors import CommandInvalid, PayloadUnstorable

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "ids": {"type": "array"},
        "color": {"$ref": "#/$defs/Color"},
        "any": {},
    },
    "$defs": {"Color": {"type": "string", "enum": ["red"]}},
}


@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [
        ("name", "Ada", "Ada"),
        ("name", "3", "3"),
        ("name", "true", "true"),
        ("name", '"Ada"', '"Ada"'),
        ("name", "", ""),
        ("name", "a=b", "a=b"),
        ("note", "3", "3"),
        ("note", "null", None),
        ("count", "3", 3),
        ("count", "three", "three"),
        ("ratio", "3", 3),
        ("ratio", "1e3", 1000.0),
        ("on", "true", True),
        ("ids", "[1, 2]", [1, 2]),
        ("color", "1", "1"),
        ("any", "3", 3),
        ("any", '"3"', "3"),
        ("any", "hello", "hello"),
        ("unknown", "null", None),
        ("unknown", "NaN", "NaN"),
    ],
)
def test_a_value_has_the_type_of_its_field(name, text, meant):
    assert typed(split_pairs([f"{name}={text}"]), SCHEMA) == {name: meant}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": {"b": 1, "b": 2}}', "/a/b: is given twice"),
        ('{"n": 1' + "0" * 400 + "}", "/n: .*double"),
    ],
)
def test_json_that_the_api_refuses_is_refused_with_the_same_error(text, problem):
    with pytest.raises(PayloadUnstorable, match=problem):
        full_payload([], text, None)


@pytest.mark.parametrize("text", ['{"b": 1, "b": 2}', "1" + "0" * 400])
def test_a_value_in_a_pair_is_refused_as_well(text):
    with pytest.raises(PayloadUnstorable):
        typed(split_pairs([f"any={text}"]), SCHEMA)


@pytest.mark.parametrize("pairs", [["name"], ["=3"], ["a=1", "a=2"]])
def test_an_invalid_pair_is_refused(pairs):
    with pytest.raises(CommandInvalid):
        split_pairs(pairs)


@pytest.mark.parametrize("text", ["{", "[1]", "3", '{"a": NaN}', ""])
def test_a_payload_that_is_not_a_json_object_is_refused(text):
    with pytest.raises(CommandInvalid):
        full_payload([], text, None)


def test_a_payload_has_only_one_source(tmp_path):
    with pytest.raises(CommandInvalid):
        full_payload(["a=1"], '{"a": 1}', None)
    with pytest.raises(CommandInvalid):
        full_payload([], '{"a": 1}', str(tmp_path))


def test_a_payload_can_come_from_a_file(tmp_path):
    file = tmp_path / "payload.json"
    file.write_text('{"a": 1}', "utf-8")

    assert full_payload([], None, str(file)) == {"a": 1}
    with pytest.raises(CommandInvalid):
        full_payload([], None, str(tmp_path / "other.json"))


@pytest.mark.parametrize(("pairs", "file"), [(["-"], None), ([], "-")])
def test_a_payload_can_come_from_standard_input(monkeypatch, pairs, file):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}'))

    assert full_payload(pairs, None, file) == {"a": 1}
