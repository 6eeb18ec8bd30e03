"""Payloads of typed handlers: signature, validation, storage."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, Optional
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr
from pydantic import Field as ModelField
from typing_extensions import TypedDict

from windlass.core.payloads.json_text import PAYLOAD_LIMIT
from windlass.core.payloads.payload import PayloadModel
from windlass.core.payloads.schema_payload import JsonSchemaPayload
from windlass.errors import (
    DefinitionInvalid,
    PayloadInvalid,
    PayloadTooLarge,
    PayloadUnstorable,
)

if TYPE_CHECKING:
    from nowhere import Unknown


class Context:
    """Stands for JobContext, which core does not know."""


class Session:
    """Stands for a value that is provided by its type."""


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    product: str
    count: int = 1


class Options(TypedDict, total=False):
    express: bool


class Order(BaseModel):
    id: UUID = ModelField(default_factory=uuid4)
    lines: list[Line] = []
    note: str | None = None


class Measure(BaseModel):
    value: float | None = None


class Login(BaseModel):
    password: SecretStr


@dataclass
class Node:
    name: str
    children: "list[Node]" = field(default_factory=list)


UserId = NewType("UserId", int)


def model(handler, **more):
    return PayloadModel(handler, definition="test.job", context_type=Context, **more)


def stored(payload, *args, **kwargs):
    return json.loads(payload.encode(args, kwargs))


def read_back(payload, **kwargs):
    return payload.decode(payload.encode((), kwargs))


def pointers(error):
    return [part.pointer for part in error.value.errors]


def send(ctx: Context, to: str, count: int = 1, *, urgent: bool = False) -> None: ...


def test_parameters_become_fields_except_the_context():
    payload = model(send)

    assert payload.schema == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "title": "To"},
            "count": {"type": "integer", "title": "Count", "default": 1},
            "urgent": {"type": "boolean", "title": "Urgent", "default": False},
        },
        "required": ["to"],
        "additionalProperties": False,
    }
    assert payload.signature.context == "ctx"


def test_arguments_may_be_positional_or_named():
    payload = model(send)

    assert stored(payload, "ada", 2, urgent=True) == {"to": "ada", "count": 2, "urgent": True}
    assert stored(payload, to="ada") == {"to": "ada"}


def test_defaults_are_not_stored():
    payload = model(send)

    assert payload.encode(("ada",), {}) == '{"to":"ada"}'
    assert payload.decode('{"to":"ada"}') == {"to": "ada"}


def test_surplus_and_repeated_arguments_are_reported():
    with pytest.raises(PayloadInvalid, match="2 values by position"):
        model(send).encode(("ada", 1, True), {})
    with pytest.raises(PayloadInvalid, match="given twice") as caught:
        model(send).encode(("ada",), {"to": "bob"})
    assert pointers(caught) == ["/to"]


def everything(
    text: str,
    whole: int,
    number: float,
    truth: bool,
    moment: datetime,
    day: date,
    clock: time,
    span: timedelta,
    key: UUID,
    price: Decimal,
    color: Color,
    mode: Literal["a", "b"],
    maybe: Optional[int],  # noqa: UP045
    either: int | str,
    many: list[int],
    pair: tuple[int, str],
    unique: set[int],
    table: dict[str, float],
    some: Sequence[UserId],
    line: Line,
    order: Order,
    options: Options,
    node: Node,
    anything: Any,
    data: bytes,
) -> None: ...


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
lines = st.builds(Line, product=names, count=st.integers())
moments = st.datetimes(timezones=st.sampled_from([None, UTC]))
EVERYTHING = st.fixed_dictionaries(
    {
        "text": names,
        "whole": st.integers(),
        "number": numbers,
        "truth": st.booleans(),
        "moment": moments,
        "day": st.dates(),
        "clock": st.times(),
        "span": st.timedeltas(timedelta(days=-10_000), timedelta(days=10_000)),
        "key": st.uuids(),
        "price": st.decimals(allow_nan=False, allow_infinity=False, places=2),
        "color": st.sampled_from(Color),
        "mode": st.sampled_from(["a", "b"]),
        "maybe": st.none() | st.integers(),
        "either": st.integers() | names,
        "many": st.lists(st.integers(), max_size=3),
        "pair": st.tuples(st.integers(), names),
        "unique": st.sets(st.integers(), max_size=3),
        "table": st.dictionaries(names, numbers, max_size=3),
        "some": st.lists(st.integers(), max_size=3),
        "line": lines,
        "order": st.builds(
            Order, id=st.uuids(), lines=st.lists(lines, max_size=2), note=st.none() | names
        ),
        "options": st.fixed_dictionaries({}, optional={"express": st.booleans()}),
        "node": st.builds(Node, name=names, children=st.lists(st.builds(Node, names), max_size=2)),
        "anything": st.recursive(
            st.none() | st.booleans() | st.integers() | names,
            lambda inner: st.lists(inner, max_size=2),
        ),
        "data": st.binary(max_size=20),
    }
)
PAYLOAD = PayloadModel(everything, definition="test.everything")
BY_SCHEMA = JsonSchemaPayload(PAYLOAD.schema, definition="test.everything")


@given(EVERYTHING)
def test_handler_arguments_equal_the_enqueued_ones(values):
    assert read_back(PAYLOAD, **values) == values


@given(EVERYTHING)
def test_signature_and_schema_accept_the_same_payloads(values):
    text = PAYLOAD.encode((), values)

    assert json.loads(BY_SCHEMA.encode((), json.loads(text))) == json.loads(text)


@given(EVERYTHING)
def test_a_payload_from_plain_json_is_equal(values):
    plain = json.loads(PAYLOAD.encode((), values))
    # Bytes are the exception: as an argument text means its letters, in JSON it is base64.
    del plain["data"]

    again = PAYLOAD.decode(PAYLOAD.encode((), {**plain, "data": values["data"]}))

    assert again == values


def wrong_types(whole: int = 0, number: float = 0, truth: bool = False, many: list[int] = [],  # noqa: B006
                table: Mapping[str, int] = {}, maybe: int | None = None, user: UserId = UserId(0),
                fine: Annotated[int, ModelField(gt=0)] = 1, text: str = "") -> None: ...  # fmt: skip


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"whole": "3"}, "/whole"),
        ({"whole": True}, "/whole"),
        ({"whole": 3.0}, "/whole"),
        ({"number": "3"}, "/number"),
        ({"number": True}, "/number"),
        ({"truth": 1}, "/truth"),
        ({"truth": "true"}, "/truth"),
        ({"many": [1, "2"]}, "/many/1"),
        ({"table": {"a/b": "2"}}, "/table/a~1b"),
        ({"maybe": "3"}, "/maybe"),
        ({"user": "3"}, "/user"),
        ({"fine": "3"}, "/fine"),
        ({"fine": 0}, "/fine"),
        ({"text": 3}, "/text"),
        ({"text": b"3"}, None),
    ],
    ids=str,
)
def test_numbers_and_booleans_are_not_coerced(values, pointer):
    payload = model(wrong_types)

    if pointer is None:
        assert payload.encode((), values)
        return
    with pytest.raises(PayloadInvalid) as caught:
        payload.encode((), values)
    assert pointers(caught) == [pointer]


def test_an_integer_is_a_valid_number():
    assert read_back(model(wrong_types), number=3) == {"number": 3.0}


def test_all_invalid_fields_are_reported_at_once():
    with pytest.raises(PayloadInvalid) as caught:
        model(send).encode((), {"count": "3", "urgnet": True})

    assert {part.pointer: part.message for part in caught.value.errors} == {
        "/to": "required",
        "/count": '"3" should be a valid integer',
        "/urgnet": "not known (did you mean urgent?)",
    }


def test_errors_in_a_union_name_the_same_field():
    def handler(either: int | list[int]) -> None: ...

    with pytest.raises(PayloadInvalid) as caught:
        model(handler).encode((), {"either": ["x"]})

    assert pointers(caught) == ["/either", "/either/0"]


def test_a_secret_value_is_not_echoed():
    def handler(
        password: str, pin: SecretStr, key: Annotated[str, ModelField(max_length=3)]
    ) -> None: ...

    with pytest.raises(PayloadInvalid) as caught:
        model(handler).encode((), {"password": 4711, "pin": 4712, "key": "visible"})

    assert "4711" not in str(caught.value)
    assert "4712" not in str(caught.value)
    assert "visible" in str(caught.value)


def test_an_unvalidated_dataclass_is_validated():
    def handler(line: Line) -> None: ...

    with pytest.raises(PayloadInvalid) as caught:
        model(handler).encode((), {"line": Line("tea", "many")})

    assert pointers(caught) == ["/line/count"]


def anything(
    value: Any = None, text: str = "", number: float = 0, measure: Measure | None = None
) -> None: ...


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"text": "a\x00b"}, "/text"),
        ({"text": "\ud800"}, "/text"),
        ({"value": {"a": ["\x00"]}}, "/value/a/0"),
        ({"value": {"\udfff": 1}}, "/value"),
        ({"number": float("nan")}, "/number"),
        ({"number": float("inf")}, "/number"),
        ({"value": [float("nan")]}, "/value/0"),
        ({"measure": Measure(value=float("nan"))}, "/measure/value"),
        ({"value": object()}, "/value"),
        ({"value": 10**5000}, "/value"),
    ],
    ids=[
        "nul",
        "surrogate",
        "deep nul",
        "key",
        "nan",
        "inf",
        "deep nan",
        "model",
        "object",
        "digits",
    ],
)
def test_unstorable_values_are_refused_with_their_path(values, pointer):
    with pytest.raises(PayloadUnstorable) as caught:
        model(anything).encode((), values)

    assert pointers(caught) == [pointer]


def test_more_than_64_levels_are_refused():
    value = []
    for _ in range(70):
        value = [value]

    with pytest.raises(PayloadUnstorable, match="64 levels"):
        model(anything).encode((), {"value": value})


def test_a_circular_value_is_refused():
    circle = []
    circle.append(circle)

    for values in ({"value": circle}, {"measure": None, "value": circle}):
        with pytest.raises(PayloadUnstorable):
            model(anything).encode((), values)


def test_a_payload_above_the_limit_is_refused():
    payload = model(anything)

    assert payload.encode((), {"text": "x" * (PAYLOAD_LIMIT - 11)})
    with pytest.raises(PayloadTooLarge):
        payload.encode((), {"text": "x" * (PAYLOAD_LIMIT - 10)})
    with pytest.raises(PayloadTooLarge):
        model(anything, limit=1024).encode((), {"text": "x" * 1024})


def test_large_integers_stay_exact():
    assert read_back(model(anything), value=2**80 + 1) == {"value": 2**80 + 1}


def test_a_secret_is_stored_unmasked():
    def handler(password: SecretStr, maybe: SecretStr | None = None) -> None: ...

    payload = model(handler)

    assert stored(payload, password=SecretStr("hunter2")) == {"password": "hunter2"}
    assert read_back(payload, password="hunter2")["password"].get_secret_value() == "hunter2"
    assert payload.schema["properties"]["password"]["writeOnly"] is True


def test_a_secret_in_a_model_is_stored_unmasked():
    def handler(login: Login) -> None: ...

    with pytest.raises(PayloadUnstorable, match="asterisks"):
        model(handler).encode((), {"login": Login(password=SecretStr("hunter2"))})


def test_a_model_must_read_what_it_writes():
    class Odd(BaseModel):
        a: int = ModelField(validation_alias="in", serialization_alias="out")

    def handler(odd: Odd) -> None: ...

    with pytest.raises(PayloadUnstorable, match="read back"):
        model(handler, namespace={"Odd": Odd}).encode((), {"odd": {"in": 1}})


def test_kwargs_accept_additional_fields():
    def handler(to: str, **more: Any) -> None: ...

    payload = model(handler)

    assert payload.schema["additionalProperties"] is True
    assert read_back(payload, to="ada", cc=["bob"]) == {"to": "ada", "cc": ["bob"]}


def test_kwargs_may_be_typed():
    def handler(**counts: int) -> None: ...

    payload = model(handler)

    assert payload.schema["additionalProperties"] == {"type": "integer"}
    with pytest.raises(PayloadInvalid) as caught:
        payload.encode((), {"tea": "2"})
    assert pointers(caught) == ["/tea"]


def test_a_handler_without_parameters_accepts_no_fields():
    def handler() -> None: ...

    assert model(handler).encode((), {}) == "{}"
    assert model(handler).decode("{}") == {}
    with pytest.raises(PayloadInvalid):
        model(handler).encode((), {"a": 1})


def test_parameters_may_share_names_with_model_attributes():
    def handler(
        json: int, schema: int, copy: int, model_config: int, _x: int, arg_json: int
    ) -> None: ...

    values = {"json": 1, "schema": 2, "copy": 3, "model_config": 4, "_x": 5, "arg_json": 6}

    assert read_back(model(handler), **values) == values
    assert list(model(handler).schema["properties"]) == list(values)


def test_a_default_may_be_unserializable():
    def handler(value: Any = object(), many: list[int] = []) -> None: ...  # noqa: B006, B008

    assert "default" not in model(handler).schema["properties"]["value"]
    assert read_back(model(handler)) == {}


def test_values_may_be_injected_by_type():
    def handler(
        session: Session, ctx: Context | None, to: str, more: Annotated[Session, "x"]
    ) -> None: ...

    payload = model(handler, provided=[Session])

    assert dict(payload.signature.provided) == {"session": Session, "more": Session}
    assert payload.signature.context == "ctx"
    assert list(payload.schema["properties"]) == ["to"]
    assert payload.encode(("ada",), {}) == '{"to":"ada"}'


def test_the_context_type_may_be_imported_for_typing_only():
    def handler(ctx: "Context", to: "str") -> "Unknown": ...

    handler.__globals__.pop("Unknown", None)

    assert model(handler).signature.context == "ctx"


def test_types_may_be_defined_after_the_handler():
    def handler(late: "Late") -> None: ...  # noqa: F821

    payload = model(handler, namespace=(namespace := {}))
    namespace["Late"] = int

    assert payload.encode((3,), {}) == '{"late":3}'


def test_methods_partials_and_wrapped_functions_are_handlers():
    class Mailer:
        def send(self, to: "UUID") -> None: ...

        def __call__(self, to: "UUID") -> None: ...

    def two(a: "int", b: "str") -> None: ...

    @functools.wraps(two)
    def wrapped(*args, **kwargs): ...

    assert list(model(Mailer().send).schema["properties"]) == ["to"]
    assert list(model(Mailer()).schema["properties"]) == ["to"]
    assert list(model(wrapped).schema["properties"]) == ["a", "b"]
    assert list(model(functools.partial(two, b="x")).schema["properties"]) == ["a", "b"]


def starred(*values: int) -> None: ...
def positional(value: int, /) -> None: ...
def untyped(value) -> None: ...


@pytest.mark.parametrize("handler", [starred, positional, untyped, 5])
def test_parameters_that_cannot_be_filled_are_refused_at_declaration(handler):
    with pytest.raises(DefinitionInvalid):
        model(handler)


def strange(value: Session) -> None: ...
def called(value: "type[Unheard]") -> None: ...  # noqa: F821
def unresolved(value: "Unheard") -> None: ...  # noqa: F821


@pytest.mark.parametrize("handler", [strange, called, unresolved])
def test_types_without_a_schema_are_refused_by_name(handler):
    with pytest.raises(DefinitionInvalid, match="`value`"):
        assert model(handler).schema


@pytest.mark.parametrize("text", ["[]", "null", "{", '{"to": 1}', '{"to":"a","more":1}'])
def test_a_stored_payload_that_no_longer_fits_is_reported(text):
    with pytest.raises(PayloadInvalid, match=r"test\.job"):
        model(send).decode(text)


def test_an_integer_written_with_a_point_in_json_is_accepted():
    def handler(count: int, many: list[int], either: int | str) -> None: ...

    payload = model(handler)

    assert payload.decode('{"count":3.0,"many":[1,2.0],"either":4.0}') == {
        "count": 3,
        "many": [1, 2],
        "either": 4,
    }
    with pytest.raises(PayloadInvalid):
        payload.decode('{"count":3.5,"many":[],"either":1}')


def test_a_lone_surrogate_in_a_typed_dict_key_is_refused():
    def count(words: dict[str, int]) -> None: ...

    with pytest.raises(PayloadUnstorable) as caught:
        model(count).encode((), {"words": {"\udfff": 1}})

    assert pointers(caught) == ["/words"]
    assert model(count).encode((), {"words": {"�": 1}}) == '{"words":{"�":1}}'
