"""JSON text that every database stores and gives back as it was.

Refused are NUL characters, halves of surrogate pairs, NaN and infinities, more than 64 levels, and
values JSON does not know. Whole numbers stay exact whatever their size.
"""

import json
import math
from collections.abc import Mapping
from types import GeneratorType
from typing import Any

from windlass.core.text import storable
from windlass.errors import FieldError, PayloadInvalid, PayloadTooLarge, PayloadUnstorable
from windlass.errors.wording import json_pointer, quoted

#: Bytes. Larger things belong elsewhere, and the payload says where.
PAYLOAD_LIMIT = 256 * 1024
#: Levels of lists and objects within each other.
DEEPEST = 64


def dump_json(value: object, *, what: str = "payload") -> str:
    """Compact JSON text of `value`; PayloadUnstorable names the place that cannot be stored.

    Dates, UUIDs, decimals, enums, sets, dataclasses and models are written as JSON usually does;
    keys that are numbers become text. `what` is what the error calls the value.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        pointer, problem = find_unstorable(value) or ("", f"is not JSON ({error})")
        raise PayloadUnstorable(problem, pointer=pointer, what=what) from None
    check_storable(text, what=what)
    return text


def load_json(text: str | bytes, *, what: str = "payload") -> Any:
    """The value of JSON text; PayloadUnstorable if it is none, NaN and infinities included."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        raise PayloadUnstorable(f"is not JSON ({error})", what=what) from None


def load_object(text: str, definition: str) -> dict[str, Any]:
    """A stored payload; PayloadInvalid if it is no JSON object."""
    try:
        value = load_json(text)
    except PayloadUnstorable as error:
        raise PayloadInvalid(definition, error.errors) from None
    if not isinstance(value, dict):
        raise PayloadInvalid(definition, [FieldError("", "it is not an object")])
    return value


def check_storable(text: str, *, what: str = "payload") -> None:
    """Raise PayloadUnstorable if some database could not keep this JSON text as it is."""
    # These finds are cheap and nearly always empty; only a suspicion pays for looking closely.
    suspicious = (
        "\\u0000" in text
        or "NaN" in text
        or "Infinity" in text
        or text.count("[") + text.count("{") > DEEPEST
        or not (text.isascii() or _encodable(text))
    )
    if suspicious and (found := find_unstorable(json.loads(text))):
        pointer, problem = found
        raise PayloadUnstorable(problem, pointer=pointer, what=what)


def check_size(text: str, definition: str, limit: int = PAYLOAD_LIMIT) -> None:
    """Raise PayloadTooLarge if a job of this definition may not carry so much."""
    # A character has four bytes at most, so short texts need no counting.
    if len(text) * 4 > limit and (size := size_of(text)) > limit:
        raise PayloadTooLarge(definition, size=size, limit=limit)


def size_of(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def find_unstorable(value: object) -> tuple[str, str] | None:
    """Where the first thing is that cannot be stored, as a JSON pointer, and what is wrong."""
    left: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while left:
        path, value = left.pop()
        if isinstance(value, Mapping | list | tuple) and len(path) >= DEEPEST:
            return json_pointer(path[:8]), f"has more than {DEEPEST} levels"
        if isinstance(value, Mapping):
            for key in value:
                if not _is_key(key):
                    return json_pointer(path), f"has a key that cannot be stored: {quoted(key)}"
            left += reversed([((*path, key), part) for key, part in value.items()])
        elif isinstance(value, list | tuple):
            left += reversed([((*path, place), part) for place, part in enumerate(value)])
        elif problem := _problem(value):
            return json_pointer(path), problem
    return None


def plain(value: object) -> Any:
    """What JSON writes for a value it does not know itself, such as a date; else TypeError."""
    # Reading a generator would use it up, and might never end.
    if isinstance(value, GeneratorType) or hasattr(value, "get_secret_value"):
        raise TypeError(f"is a {type(value).__name__}")
    from pydantic_core import to_jsonable_python

    try:
        return to_jsonable_python(value, inf_nan_mode="constants")
    except ValueError as error:
        raise TypeError(str(error)) from None


def _problem(value: object) -> str | None:
    match value:
        case None | bool():
            return None
        case str() if "\x00" in value:
            return "has a NUL character"
        case str():
            return None if _encodable(value) else "has half of a surrogate pair"
        case float():
            return None if math.isfinite(value) else f"is {value}, not a finite number"
        case int():
            return None if value.bit_length() < _MOST_BITS else "is a number of too many digits"
        case _:
            return _problem_of_other(value)


def _problem_of_other(value: object) -> str | None:
    try:
        found = find_unstorable(plain(value))
    except TypeError:
        return f"is of type {type(value).__name__}, which JSON does not know"
    return found and found[1]


def _is_key(key: object) -> bool:
    if isinstance(key, str):
        return storable(key) == key
    return key is None or isinstance(key, int) or (isinstance(key, float) and math.isfinite(key))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:40]} is too large")
    return number


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a finite number")


#: Python writes and reads no whole number of more than 4300 decimal digits.
_MOST_BITS = 14_284
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain
)
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
