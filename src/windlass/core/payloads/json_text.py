"""JSON text that every database stores and gives back as it was.

Refused are NUL characters, halves of surrogate pairs, numbers beyond the range of a double, NaN and
infinities, more than 64 levels, and values JSON does not know. Whole numbers within the range stay
exact. `read_json` reads text from outside; `load_json` reads what was stored, also by an older
version that allowed longer numbers.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from windlass.core.text import storable
from windlass.errors import FieldError, PayloadInvalid, PayloadTooLarge, PayloadUnstorable
from windlass.errors.wording import json_pointer, prints, quoted

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


def dump_plain_json(value: object, *, limit: int) -> str | None:
    """The text of `dump_json`; None for a value that cannot be stored, or not in `limit` bytes."""
    try:
        text = dump_json(value)
    except BaseException:  # noqa: BLE001  a value's own methods may raise anything
        return None
    return text if size_of(text) <= limit else None


def load_json(text: str | bytes, *, what: str = "payload") -> Any:
    """The value of JSON text; PayloadUnstorable if it is none, NaN and infinities included."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        raise PayloadUnstorable(f"is not JSON ({error})", what=what) from None


def read_json(
    text: str | bytes, *, what: str = "payload", deepest: int = DEEPEST, any_text: bool = False
) -> Any:
    """The value of JSON text from outside.

    PayloadUnstorable names the place of a key that an object has twice, of a number beyond the
    range of a double, and of all else that cannot be stored. `deepest` is the number of levels.
    `any_text` lets text and levels pass, for a caller that replaces what cannot be stored.
    """
    text = _decoded(text, what)
    try:
        value = _READER.decode(text)
    except _Refused:
        pointer, problem = _find_refused(text)
        raise PayloadUnstorable(problem, pointer=pointer, what=what) from None
    except ValueError as error:
        raise PayloadUnstorable(f"is not JSON ({error})", what=what) from None
    except RecursionError:
        raise PayloadUnstorable(f"has more than {deepest} levels", what=what) from None
    # "\\ud" begins the escape of a surrogate, which is in order only as half of a pair.
    if not any_text and (_suspicious(text, deepest) or "\\ud" in text or "\\uD" in text):
        _check(value, what, deepest)
    return value


def printable_json(text: str) -> str:
    """JSON text with `\\u` escapes for the characters that `printable` replaces: an equal value.

    Line breaks stay: within a value JSON has them escaped already.
    """
    # Nearly every document is ASCII, in which JSON leaves but one character to be escaped.
    if text.isascii() and "\x7f" not in text:
        return text
    return text if text.isprintable() else _UNUSUAL.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else "".join(map(_escaped, found[0]))


# Remembered: a long text of nothing but such characters takes a tenth of the time.
@lru_cache(1024)
def _escaped(character: str) -> str:
    return character if prints(character) else json.dumps(character)[1:-1]


def _decoded(text: str | bytes, what: str) -> str:
    try:
        return text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        raise PayloadUnstorable("is not UTF-8", what=what) from None


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
    if _suspicious(text, DEEPEST):
        _check(json.loads(text), what, DEEPEST)


def _suspicious(text: str, deepest: int) -> bool:
    """True if JSON text may hold something that cannot be stored. These finds are cheap and nearly
    always empty; only a suspicion pays for looking closely."""
    return (
        "\\u0000" in text
        or "NaN" in text
        or "Infinity" in text
        or text.count("[") + text.count("{") > deepest
        or not (text.isascii() or _encodable(text))
        or (len(text) >= _MOST_DIGITS and _LONG_NUMBER.search(text) is not None)
    )


def _check(value: object, what: str, deepest: int) -> None:
    if found := find_unstorable(value, deepest):
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


def find_unstorable(value: object, deepest: int = DEEPEST) -> tuple[str, str] | None:
    """JSON pointer to the first value that cannot be stored, and the problem with it."""
    left: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while left:
        path, value = left.pop()
        if isinstance(value, Mapping | list | tuple) and len(path) >= deepest:
            return json_pointer(path[:8]), f"has more than {deepest} levels"
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
    """JSON form of a value that JSON does not know, such as a date; else TypeError."""
    # Reading an iterator would use it up, and might never end.
    if hasattr(type(value), "__next__") or hasattr(value, "get_secret_value"):
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
            return None if _is_double(value) else _TOO_LARGE
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


def _is_double(number: int) -> bool:
    try:
        float(number)
    except OverflowError:
        return False
    return True


class _Refused(ValueError):
    """Valid JSON that is not accepted from outside."""


class _Pairs(list[tuple[str, Any]]):
    """An object as it is written, keys that stand twice included."""


def _find_refused(text: str) -> tuple[str, str]:
    """Position of the first part that `read_json` does not accept, and the problem with it."""
    left: list[tuple[tuple[str | int, ...], object]] = [((), _AS_WRITTEN.decode(text))]
    while left:
        path, value = left.pop()
        if isinstance(value, _Refused):
            return json_pointer(path), str(value)
        if isinstance(value, _Pairs):
            seen: set[str] = set()
            for key, _ in value:
                if key in seen:
                    return json_pointer((*path, key)), "is given twice"
                seen.add(key)
            left += reversed([((*path, key), part) for key, part in value])
        elif isinstance(value, list):
            left += reversed([((*path, place), part) for place, part in enumerate(value)])
    return "", "is not accepted"


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Refused("a key is given twice")
    return made


def _whole(digits: str) -> int:
    if len(digits) >= _MOST_DIGITS and (
        len(digits) > _MOST_DIGITS + 1 or not _is_double(int(digits))
    ):
        raise _Refused(_TOO_LARGE)
    return int(digits)


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise _Refused(_TOO_LARGE)
    return number


def _refuse(constant: str) -> float:
    raise _Refused(f"is {constant}, not a finite number")


def _refusal_as_value(parse: Callable[[str], float]) -> Callable[[str], object]:
    """The same parser, which returns its refusal in place of the number."""

    def parse_or_refuse(text: str) -> object:
        try:
            return parse(text)
        except _Refused as refused:
            return refused

    return parse_or_refuse


#: Everything but ASCII that prints, and the line breaks of a document of several lines.
_UNUSUAL = re.compile(r"[^ -~\n]+")
#: The digits of the largest double; a number with more is beyond it.
_MOST_DIGITS = 309
_TOO_LARGE = "is a number beyond the range of a double (about 1.8e308)"
_LONG_NUMBER = re.compile(rf"(?<![0-9])[0-9]{{{_MOST_DIGITS}}}")
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain
)
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
_READER = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_float=_finite, parse_int=_whole, parse_constant=_refuse
)
_AS_WRITTEN = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_float=_refusal_as_value(_finite),
    parse_int=_refusal_as_value(_whole),
    parse_constant=_refusal_as_value(_refuse),
)
