"""Malicious schemas and payloads: accepted or refused, without a crash or a long run."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.function_calls import counted_calls
from windlass.core.payloads.json_text import PAYLOAD_LIMIT
from windlass.core.payloads.payload import PayloadModel
from windlass.core.payloads.schema_limits import check_schema
from windlass.core.payloads.schema_payload import JsonSchemaPayload
from windlass.errors import PayloadInvalid, WindlassError
from windlass.worker.context import JobContext

#: Function calls for one schema and payload: ten times what the worst here takes. Work that doubles
#: with each level would take more than can be counted.
MOST_CALLS = 1_000_000
NAMES = st.sampled_from(["a", "b", "$defs", "n", ""])
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/$defs/missing", "#a", "other.json",
     "http://localhost:9/x", "file:///etc/passwd", "#/$defs/a/~0~1", "#/%24defs/a"]
)  # fmt: skip
PATTERNS = st.sampled_from(
    ["^(a+)+$", "(a|a)*b", "(?=a)", r"(a)\\1", "[", "\\p{L}{1,999}", "a{99}{99}"]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)


def keywords(schemas: st.SearchStrategy) -> st.SearchStrategy:
    named = st.dictionaries(NAMES, schemas, max_size=3)
    listed = st.lists(schemas, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "string", "array", "strin", ["null", "object"], 7]),
            "properties": named,
            "patternProperties": st.dictionaries(PATTERNS, schemas, max_size=1),
            "$defs": named,
            "dependentSchemas": named,
            "allOf": listed,
            "anyOf": listed,
            "oneOf": listed,
            "prefixItems": listed,
            "items": schemas,
            "not": schemas,
            "if": schemas,
            "then": schemas,
            "else": schemas,
            "propertyNames": schemas,
            "additionalProperties": schemas,
            "unevaluatedProperties": schemas,
            "contains": schemas,
            "$ref": REFERENCES,
            "$dynamicRef": REFERENCES,
            "$recursiveRef": REFERENCES,
            "$id": st.sampled_from(["http://example.com/", "a", 7]),
            "$anchor": st.sampled_from(["a", "b"]),
            "pattern": PATTERNS,
            "format": st.sampled_from(["regex", "uri", "idn-email", "date-time", "nothing"]),
            "minimum": PLAIN,
            "maxLength": PLAIN,
            "multipleOf": PLAIN,
            "minProperties": PLAIN,
            "uniqueItems": PLAIN,
            "enum": st.lists(PLAIN, max_size=3),
            "const": PLAIN,
            "required": st.lists(st.text(max_size=3), max_size=2) | PLAIN,
            "default": PLAIN,
        },
    )


SCHEMAS = st.recursive(st.booleans() | keywords(st.booleans()) | PLAIN, keywords, max_leaves=8)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
PAYLOADS = st.dictionaries(NAMES, VALUES, max_size=3)


def deep(levels: int, leaf: object) -> dict:
    value = leaf
    for _ in range(levels):
        value = {"a": value}
    return value


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(keywords(SCHEMAS), PAYLOADS)
def test_any_schema_is_usable_or_refused(schema, payload):
    with counted_calls() as calls:
        for given_payload in (payload, deep(60, payload)):
            try:
                text = JsonSchemaPayload(schema, definition="d").encode((), given_payload)
            except WindlassError:
                continue
            assert isinstance(text, str)

    assert calls.count < MOST_CALLS


A = {"properties": {"a": {"$ref": "#"}}}
LOOPS = {
    "itself": {"$ref": "#"},
    "itself by parts": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
    "its opposite": {"not": {"$ref": "#"}},
    "each other": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "twice all": {"type": "object", "allOf": [A, A]},
    "twice any": {"type": "object", "anyOf": [A, A]},
    "twice any that fails early": {"anyOf": [{**A, "required": ["z"]}] * 2},
    "twice one": {"oneOf": [{**A, "required": ["t"]}, {**A, "required": ["u"]}]},
    "ten of any": {"type": "object", "anyOf": [A] * 10},
    "by condition": {"type": "object", "if": A, "then": A, "else": A},
    "by other keys": {"type": "object", "dependentSchemas": {"a": A}, "anyOf": [A, A]},
    "by what is left": {"type": "object", "anyOf": [A, {"unevaluatedProperties": {"$ref": "#"}}]},
    "through another": {
        "$ref": "#/$defs/n",
        "$defs": {
            "n": {"type": "object", "anyOf": [{"$ref": "#/$defs/m"}, {"$ref": "#/$defs/m"}]},
            "m": {"properties": {"a": {"$ref": "#/$defs/n"}}},
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("levels", [5, 20, 60])
@pytest.mark.parametrize("schema", LOOPS.values(), ids=LOOPS)
def test_a_highly_recursive_schema_is_cheap(schema, levels):
    checked = JsonSchemaPayload(schema, definition="d")

    with counted_calls() as calls:
        for leaf in ({}, 5):
            with suppress(PayloadInvalid):
                checked.encode((), deep(levels, leaf))

    assert calls.count < MOST_CALLS


@pytest.mark.parametrize("branches", [1, 2, 100, 1000])
def test_a_long_invalid_list_is_cheap(branches):
    items = {"anyOf": [{"const": n} for n in range(branches)]}
    checked = JsonSchemaPayload({"properties": {"list": {"items": items}}}, definition="d")

    with counted_calls() as calls, pytest.raises(PayloadInvalid, match="list"):
        checked.encode((), {"list": ["x"] * (PAYLOAD_LIMIT // 8)})

    assert calls.count < MOST_CALLS


def test_a_long_list_of_the_wrong_type_is_cheap():
    def handler(numbers: list[int]) -> None: ...

    typed = PayloadModel(handler, definition="d", context_type=JobContext, limit=PAYLOAD_LIMIT)
    typed.encode((), {"numbers": [1]})

    with counted_calls() as calls, pytest.raises(PayloadInvalid, match="numbers"):
        typed.encode((), {"numbers": ["x"] * (PAYLOAD_LIMIT // 8)})

    assert calls.count < MOST_CALLS


def test_a_heavily_branching_schema_is_cheap():
    levels = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 9} for n in range(4)}
    schema = {
        "$defs": {**levels, "l4": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/l0"}},
    }
    checked = JsonSchemaPayload(schema, definition="d")

    with counted_calls() as calls, pytest.raises(PayloadInvalid):
        checked.encode((), {"a": 1})

    assert calls.count < MOST_CALLS


@pytest.mark.parametrize(
    ("schema", "loops"),
    [
        ({"properties": {"a": {"type": "string"}}}, 0),
        ({"properties": {"next": {"$ref": "#"}}}, 1),
        ({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}, 2),
    ],
)
def test_the_recursion_paths_of_a_schema_are_counted(schema, loops):
    assert check_schema(schema, "d").loops == loops
