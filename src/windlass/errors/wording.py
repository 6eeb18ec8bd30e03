"""Text of messages: how values, addresses and lists are quoted, and what does not print is escaped."""

import difflib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

#: How much of a caller's own value a message repeats.
_SHOWN = 80
_LINE = 300
_HOST = re.compile(r"[\w.,:-]+|\[[0-9A-Fa-f:.]+\](:\d+)?")
#: Everything but ASCII that prints: only this is looked at more closely.
_UNUSUAL = re.compile(r"[^ -~]+")
#: Persian, the Indic scripts and emoji need these joiners; they neither reorder text nor move a cursor.
_JOINERS = "\u200c\u200d"
_PORTS = {"postgresql": 5432, "postgres": 5432, "mysql": 3306, "mariadb": 3306}


def printable(text: str) -> str:
    """`text` with a visible escape, such as `\\x1b`, for each character that does not print.

    Those are control characters (C0, DEL, C1, line breaks and tabs among them), marks that reorder
    or hide text, separators of lines, private, unassigned and half characters. What is left is
    safe on one line of a terminal. Takes time in proportion to the length.
    """
    return text if text.isprintable() else _UNUSUAL.sub(_visible, text)


def prints(character: str) -> bool:
    """True if a character stays as it is in `printable`."""
    # Spaces other than ASCII's do not print by Python's definition; no terminal minds them.
    return (
        character.isprintable() or unicodedata.category(character) == "Zs" or character in _JOINERS
    )


def json_pointer(path: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) to a place in a value; empty for the whole."""
    steps = ("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    # Half of a surrogate pair in a message would fail where the message is printed or logged.
    return "".join(steps).encode(errors="backslashreplace").decode()


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known word nearest to `word`; None if none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return near[0] if near else None


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The start of a hint: the known word that is nearest to `word`; empty if none is near."""
    near = nearest(word, known)
    return f"Did you mean `{printable(near)}`? " if near else ""


def quoted(value: object) -> str:
    """A value as messages show it: as JSON spells it, nothing longer than a line."""
    if isinstance(value, str):
        return printable(json.dumps(_cut(value), ensure_ascii=False))
    try:
        if value is None or isinstance(value, bool | list | tuple | dict):
            return printable(_cut(json.dumps(value, ensure_ascii=False, default=str)))
        return printable(_cut(repr(value)))
    except Exception:  # noqa: BLE001  a message must not fail for the value it is about
        return f"a {type(value).__name__}"


def shorten(text: str) -> str:
    """The start of a text that may be long, such as another program's error."""
    return _cut(text.strip().partition("\n")[0], at=_LINE)


def sentence(text: str) -> str:
    """`text` with a capital at its start and a full stop at its end."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!", "…")) else ".")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def address(url: str) -> str:
    """Host and port of a database URL, or the file of a SQLite one. Never a user or password."""
    scheme, _, rest = url.partition("://")
    place, _, query = rest.partition("?")
    if scheme.partition("+")[0] == "sqlite":
        return place.removeprefix("/") or "memory"
    host = place.rpartition("@")[2].partition("/")[0]
    # An @ behind the ? may be half of a password that was not encoded.
    if "@" in query or not _HOST.fullmatch(host):
        return "the configured address"
    port = _PORTS.get(scheme.partition("+")[0])
    return host if port is None or ":" in host.rpartition("]")[2] else f"{host}:{port}"


def _cut(text: str, at: int = _SHOWN) -> str:
    return text if len(text) <= at else text[: at - 1] + "…"


def _visible(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else "".join(map(_escaped, found[0]))


# Remembered: a long text of nothing but such characters takes a tenth of the time.
@lru_cache(1024)
def _escaped(character: str) -> str:
    return character if prints(character) else ascii(character)[1:-1]


def with_type(error_type: str | None, error: str | None) -> str:
    """An error as people read it: `LookupError: the printer is off`. The type stands there once,
    however often this is asked."""
    kind, said = _short(error_type), error or ""
    if not kind or not said or said == kind or said.startswith(f"{kind}: "):
        return said or kind
    return f"{kind}: {said}"


def without_type(error_type: str | None, error: str | None) -> str:
    """The message alone, of an error that may have the type before it."""
    return (error or "").removeprefix(f"{_short(error_type)}: ")


def _short(error_type: str | None) -> str:
    return (error_type or "").rpartition(".")[2]
