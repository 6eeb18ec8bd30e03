"""Redaction of secrets by name, mark and pattern."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from windlass.core.payloads.payload import PayloadModel
from windlass.core.payloads.redact import MASK, Redactor, redact_text, redact_value
from windlass.core.payloads.schema_marks import marking_schema

SECRET = "hunter2-hunter2"

#: Schemas that mark the field `a` as secret.
MARKING = (
    {"properties": {"a": {"writeOnly": True}}},
    {"properties": {"a": {"format": "password"}}},
    {"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"writeOnly": True}}},
    {"$ref": "#/$defs/s", "$defs": {"s": {"properties": {"a": {"writeOnly": True}}}}},
    {"properties": {"a": {"anyOf": [{"type": "null"}, {"writeOnly": True}]}}},
    {"properties": {"a": {"allOf": [{"oneOf": [{"format": "password"}]}]}}},
    {"anyOf": [{}, {"properties": {"a": {"writeOnly": True}}}]},
    {"if": {}, "then": {"properties": {"a": {"writeOnly": True}}}},
    {"dependentSchemas": {"b": {"properties": {"a": {"writeOnly": True}}}}},
    {"patternProperties": {"^a": {"writeOnly": True}}},
    {"additionalProperties": {"writeOnly": True}},
    {"properties": {"a": {"$ref": "http://elsewhere/"}}},
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "key",
    ["password", "Password", "db_password", "userPassword", "X-Api-Key", "apiKey", "api_key",
     "access_token", "tokens", "Authorization", "client-secret", "AWS_SECRET_ACCESS_KEY",
     "credentials", "Set-Cookie", "pwd", "private_key"],
)  # fmt: skip
def test_values_under_secret_names_are_hidden(key):
    assert redact_value({key: SECRET, "user": "ada"}) == {key: MASK, "user": "ada"}
    assert redact_value({"deep": [{key: {"a": SECRET}}]}) == {"deep": [{key: MASK}]}


@pytest.mark.parametrize("key", ["name", "passenger", "key", "author", "to", "keyboard", ""])
def test_values_under_other_names_are_shown(key):
    assert redact_value({key: "ada"}) == {key: "ada"}


def test_an_empty_secret_is_distinguishable_from_a_set_one():
    assert redact_value({"password": None, "has_token": True}) == {
        "password": None,
        "has_token": True,
    }
    assert redact_value({"password": 4711}) == {"password": MASK}


@pytest.mark.parametrize("schema", MARKING, ids=str)
def test_fields_marked_in_the_schema_are_hidden(schema):
    assert redact_value({"a": SECRET}, schema) == {"a": MASK}
    assert redact_value({"a": {"b": [SECRET]}}, schema) == {"a": MASK}
    assert redact_value({"a": None}, schema) == {"a": None}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"items": {"writeOnly": True}}, [MASK, MASK, MASK]),
        ({"prefixItems": [{}, {"writeOnly": True}]}, ["x", MASK, "x"]),
        ({"prefixItems": [{}], "items": {"writeOnly": True}}, ["x", MASK, MASK]),
        ({"items": [{"writeOnly": True}]}, [MASK, "x", "x"]),
        ({"items": [{}], "additionalItems": {"writeOnly": True}}, ["x", MASK, MASK]),
        ({"contains": {"writeOnly": True}}, [MASK, MASK, MASK]),
    ],
    ids=str,
)
def test_marks_on_items_are_respected(schema, shown):
    assert redact_value({"list": ["x", "x", "x"]}, {"properties": {"list": schema}}) == {
        "list": shown
    }


def test_marks_in_a_recursive_schema_are_respected_at_any_depth():
    node = {"properties": {"key": {"writeOnly": True}, "next": {"$ref": "#/$defs/node"}}}
    value = {"key": SECRET, "next": {"key": SECRET, "next": {"name": "x", "key": SECRET}}}

    shown = redact_value(value, {"$ref": "#/$defs/node", "$defs": {"node": node}})

    assert shown == {"key": MASK, "next": {"key": MASK, "next": {"name": "x", "key": MASK}}}


def test_a_self_referencing_schema_terminates():
    assert redact_value({"a": 1}, {"$ref": "#"}) == {"a": 1}


def test_a_schema_too_complex_to_follow_hides_everything():
    tangle = {"anyOf": [{"properties": {"a": {"anyOf": [{"title": str(n)} for n in range(99)]}}}]}

    assert redact_value({"a": 1, "b": 2}, tangle) == {"a": MASK, "b": 2}


@pytest.mark.parametrize(
    "schema", [*MARKING, {"title": "x", "anyOf": [{"title": str(n)} for n in range(99)]}], ids=str
)
def test_a_schema_that_may_mark_a_value_is_followed(schema):
    assert marking_schema(json.dumps(schema)) == schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"writeOnly": {"format": "date"}, "b": {"writeOnly": False}}},
        {"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"enum": ["password", True]}}},
        {"anyOf": [{"items": {"type": "string"}}, True]},
    ],
    ids=str,
)
def test_a_schema_without_marks_is_not_followed(schema):
    assert marking_schema(json.dumps(schema)) is None


def test_a_handlers_secret_parameters_are_hidden():
    class Login(BaseModel):
        user: str
        phrase: SecretStr

    def handler(pin: SecretStr | None, logins: list[Login], note: str) -> Any: ...

    schema = PayloadModel(handler, definition="x", namespace={"Login": Login}).schema
    value = {"pin": "4711", "logins": [{"user": "ada", "phrase": SECRET}], "note": "hi"}

    assert redact_value(value, schema) == {
        "pin": MASK,
        "logins": [{"user": "ada", "phrase": MASK}],
        "note": "hi",
    }


@given(json_values)
def test_redaction_keeps_the_shape_and_is_idempotent(value):
    shown = redact_value(value)

    assert redact_value(shown) == shown
    assert type(shown) is type(value) or shown == MASK
    json.dumps(shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"password={SECRET} x", f"password={MASK} x"),
        (f"PASSWORD: {SECRET}", f"PASSWORD: {MASK}"),
        (f'{{"password": "{SECRET}", "user": "ada"}}', f'{{"password": "{MASK}", "user": "ada"}}'),
        ('{"password":"hun\\"ter2","a":1}', f'{{"password":"{MASK}","a":1}}'),
        (f"{{'api_key': '{SECRET}', 'n': 1}}", f"{{'api_key': '{MASK}', 'n': 1}}"),
        (f"?user=ada&access_token={SECRET}&x=1", f"?user=ada&access_token={MASK}&x=1"),
        ("Authorization: Basic dXNlcjpwYXNz done", f"Authorization: {MASK} done"),
        ("got Bearer abcdef.ghijkl-mn", f"got Bearer {MASK}"),
        ("postgresql://ada:hunter2@db:5432/x", f"postgresql://{MASK}@db:5432/x"),
        ("redis://:hunter2@cache", f"redis://{MASK}@cache"),
        ("amqp://u:hun/ter@2@h/v", f"amqp://{MASK}@h/v"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK", MASK),
        ("key ghp_abcdefghijklmnopqrstuvwxyz01", f"key {MASK}"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", f"a {MASK} b"),
        ("-----BEGIN PRIVATE KEY-----\nMII", MASK),
        ('token: "cut off', f'token: "{MASK}"'),
        ('"pin_token":123,"user":"x"', f'"pin_token":{MASK},"user":"x"'),
        ("secret = True", "secret = True"),
    ],
)
def test_credentials_in_text_are_hidden(text, shown):
    assert redact_text(text) == shown
    assert redact_text(shown) == shown


@pytest.mark.parametrize(
    "text",
    ["", "nothing to see", "https://example.com/a?b=c", "token expired", "http://h:80/x",
     "https://example.com/@ada", "mail ada@example.com", '"has_token":true,"user":"x"'],
)  # fmt: skip
def test_other_text_is_unchanged(text):
    assert redact_text(text) == text


def test_strings_inside_values_are_searched():
    assert redact_value({"url": "mysql://a:b@h/x"}) == {"url": f"mysql://{MASK}@h/x"}


def test_names_and_patterns_can_be_added():
    redactor = Redactor(
        names=("iban", "Social Security"), patterns=("acme_live_*", "*@corp", "exact")
    )

    assert redactor.redact_value({"IBAN": "DE1", "social_security": "1", "password": "x"}) == {
        "IBAN": MASK,
        "social_security": MASK,
        "password": "x",
    }
    assert (
        redactor.redact_text("use acme_live_12ab, not acme_test_1") == f"use {MASK} not acme_test_1"
    )
    assert redactor.redact_text("ask ada@corp exactly") == f"ask {MASK} {MASK}ly"
    assert redactor.redact_text("iban=DE1") == f"iban={MASK}"


def test_a_redactor_without_names_hides_by_value_only():
    assert (
        Redactor(names=()).redact_text("password=x mysql://a:b@h") == f"password=x mysql://{MASK}@h"
    )


def test_secrets_of_a_payload_are_hidden_in_output():
    schema = {"properties": {"pin": {"writeOnly": True}}}
    redactor = Redactor()

    secrets = redactor.secrets_in(
        {"pin": {"a": ["blue whale", 123456]}, "token": SECRET, "x": "y", "flag": True}, schema
    )

    assert secrets == {"blue whale", "123456", SECRET}
    assert redactor.redact_text(f"failed for blue whale, 123456, {SECRET}!", secrets) == (
        f"failed for {MASK}, {MASK}, {MASK}!"
    )


def test_a_short_secret_is_not_searched_for():
    assert redact_text("a cat sat", ["a", "cat"]) == "a cat sat"


@given(st.text())
def test_any_text_can_be_redacted(text):
    assert isinstance(redact_text(text), str)
