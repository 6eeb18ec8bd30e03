"""Results of handlers, as they are stored, and values that are logged, whatever they are."""

from collections.abc import Mapping
from typing import Any

from windlass.core.payloads.json_text import DEEPEST, dump_json, find_unstorable, plain, size_of
from windlass.core.text import clean, storable, type_name
from windlass.errors import PayloadUnstorable, ResultInvalid, ResultTooLarge

RESULT_LIMIT = 256 * 1024

#: Values looked at one by one before the rest is written as text in one piece.
_MOST_VALUES = 10_000
#: More do not fit into the largest result.
_MOST_RESULT_VALUES = 200_000
_CONTAINERS = (Mapping, list, tuple, set, frozenset)
_HEAD_BYTES = 4096
_REPR_BYTES = 16 * 1024


def encode_result(
    value: object, limit: int = RESULT_LIMIT, *, truncate: bool = False
) -> tuple[str, str | None]:
    """JSON text of what a handler returned, and a note if it was changed.

    ResultInvalid names the place of what JSON cannot hold, ResultTooLarge how large it is, unless
    it may be truncated. Characters that databases refuse are replaced by U+FFFD.
    """
    text, note = _encoded(value)
    size = size_of(text)
    if size <= limit:
        return text, note
    if not truncate:
        raise ResultTooLarge(size=size, limit=limit)
    return _head(text, size, limit), f"the result has {size:,} bytes, the limit is {limit:,}"


def _encoded(value: object) -> tuple[str, str | None]:
    try:
        return dump_json(value, what="result"), None
    except PayloadUnstorable as error:
        [refused] = error.errors
    except BaseException:  # noqa: BLE001  a returned object's own methods may raise anything
        raise ResultInvalid("", _is_unknown(type_name(value))) from None
    rescue = _LossyEncoder(_MOST_RESULT_VALUES)
    try:
        text = dump_json(rescue.plain(value))
    except BaseException:  # noqa: BLE001  as above
        raise ResultInvalid(refused.pointer, refused.message) from None
    if not rescue.kinds:
        return text, rescue.note()  # only characters were replaced
    if rescue.replaced:
        raise ResultInvalid("", _is_unknown(sorted(rescue.kinds)[0]))
    raise ResultInvalid(refused.pointer, refused.message)


def _is_unknown(kind: str) -> str:
    return f"is or has a {kind}, which JSON does not know"


def encode_anything(value: object, limit: int) -> tuple[str, str | None]:
    """JSON text for any value at all, and a note if it had to be changed. Never raises.

    What JSON cannot hold is stored as its `repr`, what databases refuse is replaced by U+FFFD, and
    what is above `limit` bytes becomes `{"truncated": true, "bytes": …, "head": "…"}`.
    """
    note = None
    try:
        text = dump_json(value)
    except BaseException:  # noqa: BLE001  a returned object's own methods may raise anything
        text, note = _encode_lossy(value)
    size = size_of(text)
    if size <= limit:
        return text, note
    return _head(text, size, limit), f"it has {size:,} bytes, the limit is {limit:,}"


def _encode_lossy(value: object) -> tuple[str, str | None]:
    rescue = _LossyEncoder()
    try:
        return dump_json(rescue.plain(value)), rescue.note()
    except BaseException:  # noqa: BLE001  as above
        return dump_json(_repr(value)), f"not JSON, stored as text: {type_name(value)}"


def _head(text: str, size: int, limit: int) -> str:
    # Quotes and control characters grow when the head is written as JSON once more.
    room = min(_HEAD_BYTES, limit // 2)
    while room:
        head = text.encode()[:room].decode(errors="ignore")
        cut = dump_json({"truncated": True, "bytes": size, "head": head})
        if size_of(cut) <= limit:
            return cut
        room //= 2
    return dump_json({"truncated": True, "bytes": size, "head": ""})


class _LossyEncoder:
    """Turns a value into JSON piece by piece, and remembers what it changed."""

    def __init__(self, most: int = _MOST_VALUES) -> None:
        self._most = most
        self.kinds: set[str] = set()
        self.replaced = False
        self._seen = 0

    def note(self) -> str | None:
        notes = []
        if self.kinds:
            notes.append(f"not JSON, stored as text: {', '.join(sorted(self.kinds)[:5])}")
        if self.replaced:
            notes.append("characters that cannot be stored were replaced")
        return "; ".join(notes) or None

    def plain(self, value: object, depth: int = 0) -> Any:
        self._seen += 1
        if isinstance(value, str):
            return self._text(value)
        if self._seen > self._most or (depth >= DEEPEST and isinstance(value, _CONTAINERS)):
            return self._as_text(value)
        if isinstance(value, Mapping):
            return {self._key(key): self.plain(part, depth + 1) for key, part in value.items()}
        if isinstance(value, _CONTAINERS):
            return [self.plain(part, depth + 1) for part in value]
        return self._other(value, depth)

    def _other(self, value: object, depth: int) -> Any:
        if value is None or isinstance(value, int | float):
            return value if find_unstorable(value) is None else self._as_text(value)
        try:
            known = plain(value)
        except BaseException:  # noqa: BLE001  as above
            return self._as_text(value)
        return self.plain(known, depth)

    def _key(self, key: object) -> Any:
        if isinstance(key, str):
            return self._text(key)
        # Of numbers, true, false and null JSON makes keys itself.
        is_plain = key is None or isinstance(key, int | float)
        return key if is_plain and find_unstorable(key) is None else self._as_text(key)

    def _text(self, text: str) -> str:
        kept = storable(text)
        self.replaced = self.replaced or kept != text
        return kept

    def _as_text(self, value: object) -> str:
        self.kinds.add(type_name(value))
        return _repr(value)


def _repr(value: object) -> str:
    try:
        return clean(repr(value), _REPR_BYTES)
    except BaseException:  # noqa: BLE001  as above
        return f"<{type_name(value)}>"
