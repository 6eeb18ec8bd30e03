"""What can be said of how a definition runs: in code, and later by an operator."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from windlass.core.backoff import Backoff
from windlass.core.dedupe import is_name
from windlass.core.definition import FOREVER
from windlass.core.durations import duration
from windlass.core.jsontext import dump_json, load_json
from windlass.core.metadata import metadata_text
from windlass.core.priority import priority
from windlass.core.rates import rate
from windlass.errors import OptionInvalid

Fields = dict[str, Any]

#: The largest whole number that every database keeps.
_LARGEST = 2**31 - 1
_MOST_TAGS = 100


def whole(least: int, most: int = _LARGEST) -> Callable[[object], bool]:
    """Whether something is a whole number in a range."""
    return lambda value: type(value) is int and least <= value <= most


def _is_days(value: object) -> bool:
    return value == "forever" or (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 36_500
    )


def _are_tags(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) <= _MOST_TAGS
        and all(is_name(each) for each in value)
    )


def _is_positive_duration(value: Any) -> bool:
    return duration(value, option="timeout") > timedelta()


_DAYS = (_is_days, "0 to 36500, or 'forever'")
_LEAST_ONE = (whole(1), "1 or more")

#: What an option may be, and in words. Rates and priorities are checked by what reads them.
ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "enabled": (lambda value: isinstance(value, bool), "true or false"),
    "max_attempts": (whole(1, 100), "1 to 100"),
    "backoff": (lambda value: isinstance(value, Backoff), "a windlass.Backoff"),
    "timeout": (_is_positive_duration, "more than 0"),
    "max_concurrency": _LEAST_ONE,
    "max_per_key": _LEAST_ONE,
    "retention_days": _DAYS,
    "log_retention_days": _DAYS,
    "retention_count": _LEAST_ONE,
    "tags": (_are_tags, f"a list of texts, at most {_MOST_TAGS}"),
    "metadata": (lambda value: isinstance(value, Mapping), "an object of names and values"),
}


def _as_is(name: str) -> Callable[[Any], Fields]:
    return lambda value: {name: value}


def _rate(option: str, count: str, seconds: str) -> Callable[[Any], Fields]:
    def fields(value: Any) -> Fields:
        if value is None:
            return {count: None, seconds: None}
        found = rate(value, option=option)
        return {count: found.most, seconds: found.seconds}

    return fields


def _retention(name: str) -> Callable[[Any], Fields]:
    def fields(value: Any) -> Fields:
        return {name: FOREVER if value == "forever" else None if value is None else float(value)}

    return fields


#: An option as the fields of a definition.
FIELDS: Mapping[str, Callable[[Any], Fields]] = {
    "enabled": _as_is("enabled"),
    "priority": lambda value: {"priority": priority(value)},
    "max_attempts": _as_is("max_attempts"),
    "backoff": lambda value: {"backoff": None if value is None else dump_json(value.to_json())},
    "timeout": lambda value: {"timeout_seconds": duration(value, option="timeout").total_seconds()},
    "max_concurrency": _as_is("max_concurrency"),
    "max_per_key": _as_is("max_per_key"),
    "rate_limit": _rate("rate_limit", "rate_count", "rate_seconds"),
    "rate_per_key": _rate("rate_per_key", "key_rate_count", "key_rate_seconds"),
    "retention_days": _retention("retention_days"),
    "log_retention_days": _retention("log_retention_days"),
    "retention_count": _as_is("retention_count"),
    "tags": lambda value: {"tags": tuple(value)},
    "metadata": lambda value: {"metadata": load_json(metadata_text(value))},
}
#: Options that may be unset.
_OPTIONAL = frozenset(
    [
        "backoff",
        "max_concurrency",
        "max_per_key",
        "rate_limit",
        "rate_per_key",
        "retention_days",
        "log_retention_days",
        "retention_count",
    ]
)


def edits(changes: Mapping[str, Any]) -> Fields:
    """An operator's changes as fields of a definition; what cannot be is refused by name."""
    fields: Fields = {}
    for name, value in changes.items():
        _check_known("edit", name)
        fits, allowed = ALLOWED.get(name, (None, ""))
        unset = value is None and name in _OPTIONAL
        if fits is not None and not unset and not fits(value):
            raise OptionInvalid(name, value, allowed=allowed)
        fields |= FIELDS[name](value)
    return fields


def fields_named(name: str) -> tuple[str, ...]:
    """The fields of a definition that an option is about; OptionInvalid if nobody knows it."""
    _check_known("reset", name)
    return {
        "timeout": ("timeout_seconds",),
        "rate_limit": ("rate_count", "rate_seconds"),
        "rate_per_key": ("key_rate_count", "key_rate_seconds"),
    }.get(name, (name,))


def _check_known(verb: str, name: str) -> None:
    if name not in FIELDS:
        raise OptionInvalid(verb, name, allowed=f"one of {', '.join(sorted(FIELDS))}")
