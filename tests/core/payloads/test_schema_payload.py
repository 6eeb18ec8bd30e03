"""Payloads validated against a JSON schema."""

import json
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.payloads.schema_limits import SCHEMA_LIMIT, resolve
from windlass.core.payloads.schema_payload import JsonSchemaPayload
from windlass.errors import (
    DefinitionInvalid,
    PayloadInvalid,
    PayloadTooLarge,
    PayloadUnstorable,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "format": "email"},
        "locale": {"type": "string", "enum": ["de", "en"]},
        "id": {"type": "string", "format": "uuid"},
        "at": {"type": "string", "format": "date-time"},
        "count": {"type": "integer", "minimum": 1},
        "password": {"type": "string", "minLength": 8},
        "code": {"type": "string", "pattern": "^[a-z]+$", "writeOnly": True},
        "many": {"type": "array", "items": {"type": ["integer", "null"]}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["to", "locale"],
    "additionalProperties": False,
}
GOOD = {"to": "ada@example.com", "locale": "en"}


def payload(schema=SCHEMA, **more):
    return JsonSchemaPayload(schema, definition="mail.send", **more)


def problems(values, schema=SCHEMA):
    with pytest.raises(PayloadInvalid) as caught:
        payload(schema).encode((), values)
    return {part.pointer: part.message for part in caught.value.errors}


def test_a_valid_payload_is_stored_as_given():
    text = payload().encode((), {**GOOD, "count": 2, "many": [1, None]})

    assert json.loads(text) == {**GOOD, "count": 2, "many": [1, None]}
    assert payload().decode(text) == {**GOOD, "count": 2, "many": [1, None]}


def test_python_values_are_serialized_before_validation():
    values = {**GOOD, "id": UUID(int=1), "at": datetime(2026, 3, 1, tzinfo=UTC)}

    assert json.loads(payload().encode((), values))["at"] == "2026-03-01T00:00:00Z"


def test_an_invalid_payload_error_reads_as_documented():
    with pytest.raises(PayloadInvalid) as caught:
        payload().encode((), {"to": "ada@"})

    assert caught.value.reason == '/to: "ada@" is not an email address; /locale: required.'


def test_every_invalid_field_is_named():
    found = problems(
        {
            "to": 5,
            "locale": "fr",
            "id": "x",
            "at": "tomorrow",
            "count": 0,
            "many": [1, "2"],
            "either": "x",
            "lokale": "en",
        }
    )

    assert found == {
        "/to": "5 is not text",
        "/locale": '"fr" is not "de" or "en"',
        "/id": '"x" is not a UUID',
        "/at": '"tomorrow" is not a date and time such as 2026-03-01T12:00:00Z',
        "/count": "0 is less than the minimum of 1",
        "/many/1": '"2" is not a whole number or null',
        "/either": '"x" is not a whole number',
        "/lokale": "not known (did you mean locale?)",
    }


def test_secret_values_are_not_echoed():
    found = problems({**GOOD, "password": "short", "code": "4711"})

    assert found["/password"] == "••• is shorter than 8 characters"
    assert "4711" not in found["/code"]


def test_values_must_be_given_by_name():
    with pytest.raises(PayloadInvalid, match="by name"):
        payload().encode(("ada@example.com",), {})


def test_integers_of_any_size_are_accepted():
    assert payload().encode((), {**GOOD, "count": 2**80}).endswith(f'"count":{2**80}}}')


def test_an_empty_schema_accepts_any_object():
    assert payload({}).encode((), {"a": [1]}) == '{"a":[1]}'


def test_unstorable_values_are_refused_before_validation():
    with pytest.raises(PayloadUnstorable):
        payload({}).encode((), {"a": "\x00"})
    with pytest.raises(PayloadTooLarge):
        payload({}, limit=1024).encode((), {"a": "x" * 1024})


def test_at_most_twenty_problems_are_reported():
    schema = {"additionalProperties": {"type": "integer"}}

    assert len(problems({f"k{n}": "x" for n in range(100)}, schema)) == 20


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2026-03-01T12:00:00+01:00", "2026-03-01"),
        ("date-time", "2026-03-01T12:00:00", "2026-13-01T12:00:00"),
        ("date", "2026-03-01", "2026-02-30"),
        ("time", "12:30:00", "25:00"),
        ("time", "12:30:00Z", "noon"),
        ("duration", "-P1DT2H0.5S", "P"),
        ("duration", "PT1H", "1h"),
        ("email", "ada@example.com", "ada"),
        ("uuid", "00000000-0000-0000-0000-000000000005", "5"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
        ("password", "anything", None),
        ("unheard-of", "anything", None),
    ],
)
def test_formats_are_validated(form, good, bad):
    schema = {"properties": {"a": {"type": "string", "format": form}}}

    assert payload(schema).encode((), {"a": good})
    if bad is not None:
        assert list(problems({"a": bad}, schema)) == ["/a"]


@given(st.dates(), st.times())
def test_every_iso_time_of_python_is_accepted(day: date, clock):
    schema = {"properties": {"a": {"format": "date-time"}, "b": {"format": "time"}}}
    moment = datetime.combine(day, clock)

    assert payload(schema).encode((), {"a": moment.isoformat(), "b": clock.isoformat()})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://example.com/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"a": {"$ref": "other.json"}}},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#anchor"},
        {"$dynamicRef": "#node"},
        {"properties": {"a": {"$id": "http://example.com/", "type": "integer"}}},
        {"$schema": "http://example.com/meta"},
        {"type": "strin"},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"pattern": "(?=a)b"}}},
        {"properties": {"a": {"pattern": r"(a)\1"}}},
        {"properties": {"a": {"pattern": "(a{1000}){1000}"}}},
        {"description": "x" * SCHEMA_LIMIT},
        {"description": "a\x00"},
        {"minimum": float("nan")},
    ],
    ids=str,
)
def test_an_external_or_unusable_schema_is_refused(schema):
    with pytest.raises(DefinitionInvalid, match="payload schema"):
        payload(schema)


def test_a_schema_nested_too_deeply_is_refused():
    schema = {}
    for _ in range(100):
        schema = {"items": schema}

    with pytest.raises(DefinitionInvalid, match="levels"):
        payload(schema)


def test_exponentially_growing_references_are_refused():
    laughs = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 10} for n in range(20)}

    with pytest.raises(DefinitionInvalid, match="multiply"):
        payload({"$defs": {**laughs, "l20": {"type": "string"}}, "$ref": "#/$defs/l0"})


def test_a_recursive_schema_is_accepted():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "additionalProperties": False,
            }
        },
    }

    assert payload(schema).encode((), {"children": [{"children": []}]})
    assert list(problems({"children": [{"kids": 1}]}, schema)) == ["/children/0/kids"]


def test_a_reference_in_an_example_is_ignored():
    assert payload({"examples": [{"$ref": "http://example.com"}], "default": {"$ref": "nope"}})
    assert payload({"properties": {"$ref": {"type": "string"}}}).encode((), {"$ref": "x"})


def test_patterns_are_linear():
    hostile = payload({"properties": {"a": {"pattern": "^(a+)+$"}}})

    with pytest.raises(PayloadInvalid):  # backtracking would not come to an end
        hostile.encode((), {"a": "a" * 50_000 + "b"})


def test_references_are_resolved_within_the_schema():
    root = {"$defs": {"a/b": {"x": [1, {"y": 2}]}}}

    assert resolve("#", root) is root
    assert resolve("#/$defs/a~1b/x/1", root) == {"y": 2}
    assert resolve("#/$defs/a~1b/x/2", root) is None
    assert resolve("other#/x", root) is None
