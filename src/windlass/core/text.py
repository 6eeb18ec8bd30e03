"""Text that every database accepts, within a size: errors, notes, log lines, output tails."""

import re

#: What takes the place of a character no database would give back.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_NAME = type.__dict__["__name__"].__get__
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str, limit: int) -> str:
    """`text` without NUL and lone surrogates, and in at most `limit` bytes of UTF-8.

    Of a text that is too long the beginning and the end stay, with a mark between them that says
    how much is missing: the end of a traceback matters as much as its start.
    """
    whole = storable(text).encode()
    if len(whole) <= limit:
        return whole.decode()
    mark = _mark(len(whole))
    room = limit - len(mark.encode())
    if room < 2:
        return _whole_characters(whole[: max(0, limit)])
    head = _whole_characters(whole[: room - room // 2])
    tail = _whole_characters(whole[len(whole) - room // 2 :])
    left_out = len(whole) - len(head.encode()) - len(tail.encode())
    return f"{head}{_mark(left_out)}{tail}"


def text_of(value: object) -> str:
    """`str(value)`; the name of its type if its own methods raise anything at all."""
    try:
        # Joined, so that a subclass of str with methods of its own goes no further.
        return "".join(str(value))
    except BaseException:  # noqa: BLE001  SystemExit too: it must not end who only wants to log
        return f"<{type_name(value)}>"


def type_name(value: object) -> str:
    """The name of a value's class, whatever its metaclass says."""
    return str(_NAME(type(value)))


def storable(text: str) -> str:
    """`text` with U+FFFD in place of NUL characters and of halves of surrogate pairs."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def _mark(left_out: int) -> str:
    return f"… {left_out:,} bytes left out …"


def _whole_characters(cut: bytes) -> str:
    return cut.decode(errors="ignore")
