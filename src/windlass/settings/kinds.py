"""Kinds of settings: type, range, how a value is read from text and shown to people."""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import urlsplit

from windlass.errors.wording import address

MASK = "•••"

_METADATA = "setting"
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True}
_TRUTHS |= {"false": False, "no": False, "off": False, "0": False}


class InvalidSetting(Exception):
    """A value that a setting cannot have."""


class SettingKind(Protocol):
    """A type of values with a range."""

    @property
    def allowed(self) -> str:
        """The range in words."""

    def read(self, text: str) -> object:
        """The value that text means, which may be out of range; anything unfit if it means none."""

    def fits(self, value: object) -> bool:
        """True if the value has the type and is in range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as it is declared.

    `words` are texts that stand for a value of another type, such as "forever" for None. What
    should not be seen is `secret`; a `url` is shown without its password.
    """

    kind: SettingKind
    default: Any
    doc: str
    words: Mapping[str, Any]
    secret: bool
    url: bool

    @property
    def allowed(self) -> str:
        """The values it can have, in words."""
        return " or ".join([self.kind.allowed, *map(json.dumps, self.words)])

    def read(self, text: str) -> Any:
        """The value that text from the environment or a command line means; InvalidSetting if none."""
        text = text.strip()
        return self.words[text] if text in self.words else self.check(self.kind.read(text))

    def check(self, value: object) -> Any:
        """`value` as settings hold it, if it has the right type and range; InvalidSetting otherwise."""
        for word, meant in self.words.items():
            if value in (word, [word]):
                return meant
        if not self.kind.fits(value):
            raise InvalidSetting
        return tuple(value) if isinstance(value, list) else value

    def show(self, value: object) -> str:
        """The value as people may see it, spelled as in the file."""
        if self.secret and value not in (None, ()):
            return MASK
        hidden = masked_url(value) if self.url and isinstance(value, str) else value
        return self.spell(hidden) or "unset"

    def spell(self, value: object) -> str:
        """The value as the file spells it; empty for an unset one."""
        for word, meant in self.words.items():
            if value == meant:
                return json.dumps(word)
        if isinstance(value, tuple):
            return f"[{', '.join(map(_spelled, value))}]"
        return "" if value is None else _spelled(value)


class BooleanKind:
    allowed = "true or false"

    def read(self, text: str) -> object:
        return _TRUTHS.get(text.lower())

    def fits(self, value: object) -> bool:
        return isinstance(value, bool)


class IntegerKind:
    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high
        self.allowed = f"a whole number from {low:,} to {high:,}"

    def read(self, text: str) -> object:
        try:
            return int(text)
        except ValueError:
            return None

    def fits(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        return self._low <= value <= self._high


class NumberKind:
    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high
        self.allowed = f"a number from {low:,} to {high:,}"

    def read(self, text: str) -> object:
        try:
            return float(text)
        except ValueError:
            return None

    def fits(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self._low <= value <= self._high


class TextKind:
    def __init__(self, *choices: str, shortest: int = 1) -> None:
        self._choices, self._shortest = choices, shortest
        self.allowed = f"text of {shortest} or more characters" if shortest > 1 else "text"
        if choices:
            self.allowed = f"one of {', '.join(choices)}"

    def read(self, text: str) -> object:
        return text

    def fits(self, value: object) -> bool:
        if not isinstance(value, str) or "\x00" in value:
            return False
        return len(value) >= self._shortest and value in (self._choices or [value])


class AddressKind:
    """A URL of one of some schemes, with a host."""

    def __init__(self, *schemes: str) -> None:
        self._schemes = schemes
        self.allowed = f"an address that begins with {' or '.join(f'{s}://' for s in schemes)}"

    def read(self, text: str) -> object:
        return text

    def fits(self, value: object) -> bool:
        if not isinstance(value, str) or not value.isprintable():
            return False
        try:
            parts = urlsplit(value)
            return parts.scheme in self._schemes and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number, or half of an IPv6 address
            return False


class NetworkKind:
    """An IP address, or a network in CIDR notation."""

    allowed = "an IP address or a network such as 10.0.0.0/8"

    def read(self, text: str) -> object:
        return text

    def fits(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        try:
            ipaddress.ip_network(value)
        except ValueError:  # also a network with host bits set, which is rarely what was meant
            return False
        return True


class ListKind:
    """A list, written with commas where only text can be."""

    def __init__(self, each: SettingKind) -> None:
        self._each = each
        self.allowed = f"a list, each {each.allowed}"

    def read(self, text: str) -> object:
        return [self._each.read(part.strip()) for part in text.split(",") if part.strip()]

    def fits(self, value: object) -> bool:
        return isinstance(value, list | tuple) and all(map(self._each.fits, value))


class TableKind:
    """Names and values, in a file only."""

    def __init__(self, each: SettingKind | None = None) -> None:
        self._each = each
        self.allowed = "a table" + (f", each {each.allowed}" if each else "")

    def read(self, text: str) -> object:
        return None

    def fits(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        return self._each is None or all(map(self._each.fits, value.values()))


def setting(
    kind: SettingKind,
    default: Any,
    doc: str,
    *,
    words: Mapping[str, Any] = MappingProxyType({}),
    secret: bool = False,
    url: bool = False,
) -> Any:
    """A dataclass field that is a setting."""
    declared = Setting(kind=kind, default=default, doc=doc, words=words, secret=secret, url=url)
    return field(default=default, repr=not (secret or url), metadata={_METADATA: declared})


def settings_of(section: Any) -> dict[str, Setting]:
    """The settings declared in a section, by name."""
    fields = section.__dataclass_fields__.items()
    return {name: one.metadata[_METADATA] for name, one in fields if _METADATA in one.metadata}


def masked_url(url: str) -> str:
    """A database URL without user, password and options."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return MASK
    if scheme.startswith("sqlite"):
        return f"{scheme}:///{address(url)}"
    user = f"{MASK}@" if "@" in rest else ""
    name = rest.partition("?")[0].rpartition("@")[2].partition("/")[2]
    return f"{scheme}://{user}{address(url)}{name and '/' + name}"


def _spelled(value: object) -> str:
    # TOML spells texts, numbers and truth values as JSON does, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
