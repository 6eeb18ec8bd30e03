"""What is wrong with which field, in words people use. Secret values are not repeated."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from windlass.core.redact import MASK, redact_value
from windlass.errors import FieldError
from windlass.errors.wording import json_pointer, nearest, quoted

Path = tuple[str | int, ...]

#: More are not helpful; fixing these will show whether others remain.
MOST_ERRORS = 20

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
    shown = _Shown(value, schema)
    found = (
        (path, _typed_problem(error, shown.at(path), path, schema))
        for error in errors
        for path in [path_in(value, error["loc"], missing=error["type"] == "missing")]
    )
    return _merged(found, schema)


def by_schema(errors: Iterable[Any], value: object, schema: Mapping[str, Any]) -> list[FieldError]:
    """Field errors of what jsonschema-rs found in `value`."""
    shown = _Shown(value, schema)
    found = (problem for error in errors for problem in _schema_problems(error, shown, schema))
    return _merged(found, schema)


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


class _Shown:
    """What messages repeat of a value."""

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


def _merged(found: Iterable[tuple[Path, str]], schema: Mapping[str, Any]) -> list[FieldError]:
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
    error: Mapping[str, Any], shown: str, path: Path, schema: Mapping[str, Any]
) -> str:
    said = str(error["msg"])
    match error["type"]:
        case "missing":
            return "required"
        case "extra_forbidden":
            return _unknown(path, schema)
        case "value_error" | "assertion_error" if shown == MASK:
            # The handler's own check may repeat the value.
            return f"{shown} is not valid"
        case _ if said.startswith("Input should "):
            return f"{shown} {said.removeprefix('Input ')}"
        case _:
            return f"{shown}: {said.removeprefix('Value error, ')}"


def _has(value: object, step: str | int) -> bool:
    if isinstance(value, Mapping):
        return step in value
    if isinstance(value, list | tuple):
        return isinstance(step, int) and step < len(value)
    return isinstance(step, str) and step in getattr(value, "__dict__", {})


def _step(value: Any, step: Any) -> Any:
    return value[step] if isinstance(value, Mapping | list | tuple) else getattr(value, step)


def _schema_problems(
    error: Any, shown: _Shown, schema: Mapping[str, Any]
) -> Iterable[tuple[Path, str]]:
    path: Path = tuple(error.instance_path)
    facts = error.kind.as_dict()
    value = shown.at(path)
    match error.kind.name:
        case "required":
            yield (*path, facts["property"]), "required"
        case "additionalProperties" | "unevaluatedProperties":
            for name in facts["unexpected"]:
                yield (*path, name), _unknown((*path, name), schema)
        case "type":
            kinds = sorted(facts["types"], key=list(_TYPES).index)
            yield path, f"{value} is not {_either(_TYPES[kind] for kind in kinds)}"
        case "format":
            kind = facts["format"]
            yield path, f"{value} is not {_FORMATS.get(kind, f'a valid {kind}')}"
        case "enum":
            yield path, f"{value} is not {_either(map(quoted, facts['options'][:10]))}"
        case "anyOf" | "oneOf" if branches := facts.get("context"):
            for part in (part for branch in branches for part in branch):
                # Nobody who left an optional value out is helped by hearing that null would do.
                if part.kind.as_dict().get("types") != ["null"] or len(branches) == 1:
                    yield from _schema_problems(part, shown, schema)
        case _:
            yield path, error.message.replace(MASK, value)


def _unknown(path: Path, schema: Mapping[str, Any]) -> str:
    known = schema.get("properties", {}) if len(path) == 1 else {}
    near = nearest(str(path[-1]), list(known))
    return f"not known (did you mean {near}?)" if near else "not known"


def _either(words: Iterable[str]) -> str:
    return " or ".join(words)
