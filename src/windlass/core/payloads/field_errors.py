"""Errors of single fields, in words people use. Secret values are not repeated."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from windlass.core.payloads.redact import redact_value
from windlass.core.payloads.secret_patterns import MASK
from windlass.errors import FieldError
from windlass.errors.wording import json_pointer, nearest, quoted

Path = tuple[str | int, ...]
#: The field at fault, the value to repeat, and what to say of it.
Problem = tuple[Path, Path, Callable[[str], str]]

#: More are not helpful; fixing these will show whether others remain.
MOST_ERRORS = 20
#: Of a long list that is all wrong so much is looked at. Several may be about one field.
_LOOKED_AT = 500

#: How pydantic begins what it says of a value.
_NAMED = re.compile(r"(Input|String|List|Dictionary|Tuple|Set|Data|Value|Bytes|URL) (?=should )")
_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_FORMATS = {
    "email": "an email address",
    "uuid": "a UUID",
    "date-time": "a date and time such as 2026-03-01T12:00:00Z",
    "date": "a date such as 2026-03-01",
    "time": "a time of day such as 12:00:00",
    "duration": "a duration such as PT1H30M",
    "uri": "a URI",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}


def by_types(
    errors: Iterable[Mapping[str, Any]], value: object, schema: Mapping[str, Any]
) -> list[FieldError]:
    """Field errors of what pydantic found in `value`."""
    found = (
        (path, path, _typed_problem(error, path, schema))
        for error in errors
        for path in [path_in(value, error["loc"], missing=error["type"] == "missing")]
    )
    return _field_error(found, value, schema)


def by_schema(errors: Iterable[Any], value: object, schema: Mapping[str, Any]) -> list[FieldError]:
    """Field errors of what jsonschema-rs found in `value`."""
    found = (problem for error in errors for problem in _schema_problems(error, schema))
    return _field_error(found, value, schema)


def path_in(value: object, loc: Sequence[str | int], *, missing: bool = False) -> Path:
    """The place in the value that pydantic means; it also names branches of unions, which are none.

    Of a missing field the last step is not there.
    """
    path: list[str | int] = []
    for place, step in enumerate(loc):
        if _has(value, step):
            path.append(step)
            value = _step(value, step)
        elif missing and place == len(loc) - 1:
            path.append(step)
    return tuple(path)


def _field_error(
    found: Iterable[Problem], value: object, schema: Mapping[str, Any]
) -> list[FieldError]:
    problems = list(islice(found, _LOOKED_AT))
    shown = _RedactedValue(_only(value, [place for _, place, _ in problems]), schema)
    return _merge_branches(
        ((field, say(shown.at(place))) for field, place, say in problems), schema
    )


def _only(value: Any, paths: Sequence[Path]) -> Any:
    """The parts of a value on these paths: redacting all of it would take too long."""
    below: dict[str | int, list[Path]] = {}
    for path in filter(None, paths):
        if _has(value, path[0]):
            below.setdefault(path[0], []).append(path[1:])
    if isinstance(value, Mapping):
        return {step: _only(value[step], rest) for step, rest in below.items()}
    if isinstance(value, list | tuple):
        steps = [step for step in below if isinstance(step, int)]
        return [
            _only(value[step], below[step]) if step in below else None
            for step in range(max(steps, default=-1) + 1)
        ]
    return value


class _RedactedValue:
    """The parts of a value that messages repeat."""

    def __init__(self, value: object, schema: Mapping[str, Any]) -> None:
        self._value = redact_value(value, schema)

    def at(self, path: Path) -> str:
        value = self._value
        for step in path:
            value = _step(value, step) if _has(value, step) else None
        match value:
            case str() if value == MASK:
                return MASK
            case None | bool():
                return {None: "null", True: "true", False: "false"}[value]
            case str() | int() | float():
                return quoted(value)
            case Mapping():
                return "an object"
            case list() | tuple():
                return "a list"
            case _:
                return f"a {type(value).__name__}"


def _merge_branches(
    found: Iterable[tuple[Path, str]], schema: Mapping[str, Any]
) -> list[FieldError]:
    # Every branch of a union complains about the same value in its own way.
    problems: dict[Path, list[str]] = {}
    for path, problem in found:
        said = problems.setdefault(path, [])
        if problem not in said:
            said.append(problem)
    known = list(schema.get("properties", {}))
    in_order = sorted(
        problems, key=lambda path: known.index(path[0]) if path and path[0] in known else len(known)
    )
    return [
        FieldError(json_pointer(path), ", or ".join(problems[path]))
        for path in in_order[:MOST_ERRORS]
    ]


def _typed_problem(
    error: Mapping[str, Any], path: Path, schema: Mapping[str, Any]
) -> Callable[[str], str]:
    said = str(error["msg"])

    def say(shown: str) -> str:
        match error["type"]:
            case "missing":
                return "required"
            case "extra_forbidden":
                return _unknown(path, schema)
            case "value_error" | "assertion_error" if shown == MASK:
                # The handler's own check may repeat the value.
                return f"{shown} is not valid"
            case "dict_type" | "model_type" | "model_attributes_type" | "dataclass_type":
                return f"{shown} should be an object"
            case "literal_error" | "enum":
                return f"{shown} should be {_in_double_quotes(said.partition('should be ')[2])}"
            case _ if named := _NAMED.match(said):
                return f"{shown} {said[named.end() :]}"
            case _:
                return f"{shown}: {said.removeprefix('Value error, ')}"

    return say


def _in_double_quotes(choices: str) -> str:
    """Choices as pydantic lists them, such as `'a', 'b' or 'c'`, with the quotes of JSON."""
    return choices.replace("'", '"')


def _has(value: object, step: str | int) -> bool:
    if isinstance(value, Mapping):
        return step in value
    if isinstance(value, list | tuple):
        return isinstance(step, int) and step < len(value)
    return isinstance(step, str) and step in getattr(value, "__dict__", {})


def _step(value: Any, step: Any) -> Any:
    return value[step] if isinstance(value, Mapping | list | tuple) else getattr(value, step)


def _schema_problems(error: Any, schema: Mapping[str, Any]) -> Iterable[Problem]:
    path: Path = tuple(error.instance_path)
    facts = error.kind.as_dict()
    match error.kind.name:
        case "required":
            yield (*path, facts["property"]), path, partial(_is, "required")
        case "additionalProperties" | "unevaluatedProperties":
            for name in facts["unexpected"]:
                unknown = _unknown((*path, name), schema)
                yield (*path, name), path, partial(_is, unknown)
        case "type":
            kinds = sorted(facts["types"], key=list(_TYPES).index)
            yield path, path, partial(_is_not, _either(_TYPES[kind] for kind in kinds))
        case "format":
            kind = facts["format"]
            yield path, path, partial(_is_not, _FORMATS.get(kind, f"a valid {kind}"))
        case "enum":
            yield path, path, partial(_is_not, _either(map(quoted, facts["options"][:10])))
        case "anyOf" | "oneOf" if branches := facts.get("context"):
            for part in (part for branch in branches for part in branch):
                # Nobody who left an optional value out is helped by hearing that null would do.
                if part.kind.as_dict().get("types") != ["null"] or len(branches) == 1:
                    yield from _schema_problems(part, schema)
        case _:
            yield path, path, partial(str.replace, error.message, MASK)


def _is(what: str, _: str) -> str:
    return what


def _is_not(what: str, shown: str) -> str:
    return f"{shown} is not {what}"


def _unknown(path: Path, schema: Mapping[str, Any]) -> str:
    known = schema.get("properties", {}) if len(path) == 1 else {}
    near = nearest(str(path[-1]), list(known))
    return f"not known (did you mean {near}?)" if near else "not known"


def _either(words: Iterable[str]) -> str:
    return " or ".join(words)
