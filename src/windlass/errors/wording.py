"""How messages say things: what they show of a value, of an address, of a list."""

import difflib
import json
import re
from collections.abc import Collection, Iterable, Sequence

#: How much of a caller's own value a message repeats.
_SHOWN = 80
_LINE = 300
_HOST = re.compile(r"[\w.,:-]+|\[[0-9A-Fa-f:.]+\](:\d+)?")
_PORTS = {"postgresql": 5432, "postgres": 5432, "mysql": 3306, "mariadb": 3306}


def json_pointer(path: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) to a place in a value; empty for the whole."""
    steps = ("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return _printable("".join(steps))


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known word that `word` was probably meant to be."""
    near = difflib.get_close_matches(word, known, n=1)
    return near[0] if near else None


def quoted(value: object) -> str:
    """A value as messages show it: text in double quotes, nothing longer than a line."""
    if isinstance(value, str):
        return _printable(json.dumps(_cut(value), ensure_ascii=False))
    try:
        return _printable(_cut(repr(value)))
    except Exception:  # noqa: BLE001  a message must not fail for the value it is about
        return f"a {type(value).__name__}"


def first_line(text: str) -> str:
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


def _printable(text: str) -> str:
    # Half of a surrogate pair in a message would fail where the message is printed or logged.
    return text.encode(errors="backslashreplace").decode()
