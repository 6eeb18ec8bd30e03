"""Options of a definition, as code declares them and operators edit them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, TypedDict, get_args

from windlass.core.definitions.backoff import Backoff
from windlass.core.definitions.definition import FOREVER, DefinitionKind, Isolation
from windlass.core.durations import duration
from windlass.core.jobs.change import metadata_text
from windlass.core.jobs.dedupe import is_name
from windlass.core.jobs.models import OnDuplicate, ParentFailure
from windlass.core.jobs.priority import priority
from windlass.core.leases.rate_limits import rate
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.errors import OptionInvalid

Fields = dict[str, Any]
Length = str | timedelta | float

#: The largest whole number that every database keeps.
_LARGEST = 2**31 - 1
_MOST_TAGS = 100
_PAYLOAD_PATH = re.compile(r"args(\.[^\s.]+)+")
_LONGEST_DESCRIPTION = 10_000
#: Python with Windlass and little else needs about half of this.
LEAST_MEMORY_MB = 32
MOST_MEMORY_MB = 1_048_576


class DefinitionOptions(TypedDict, total=False):
    """Options that operators may set on a definition, at its creation and later. None unsets one."""

    enabled: bool
    title: str
    description: str
    queue: str
    priority: int | str
    max_attempts: int
    backoff: Backoff | Mapping[str, Any] | None
    timeout: Length
    timeout_seconds: float
    max_concurrency: int | None
    limit_key: str | None
    max_per_key: int | None
    rate_limit: str | None
    rate_per_key: str | None
    dedupe: Literal["payload"] | None
    dedupe_window: Length | None
    dedupe_window_seconds: float | None
    on_duplicate: OnDuplicate
    isolation: Isolation
    memory_limit_mb: int | None
    idempotent: bool
    requires_permission: str | None
    on_parent_failure: ParentFailure
    on_dead_letter: str | None
    after: Sequence[str]
    retention_days: float | Literal["forever"] | None
    log_retention_days: float | Literal["forever"] | None
    retention_count: int | None
    tags: Sequence[str]
    default_payload: Mapping[str, Any]
    metadata: Mapping[str, Any]
    runbook_url: str | None


class HandlerOptions(TypedDict, total=False):
    """Handler of a definition that an operator creates: exactly one of `path`, `command`
    and the kind `remote`, and its payload."""

    kind: DefinitionKind | None
    path: str | None
    command: str | None
    payload_schema: Mapping[str, Any] | None


class NewDefinitionOptions(DefinitionOptions, HandlerOptions, total=False):
    """All options of a definition that an operator creates."""


def whole_number_rule(least: int, most: int = _LARGEST) -> Callable[[object], bool]:
    """A check for whole numbers in a range."""
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


def _is_positive(option: str) -> Callable[[Any], bool]:
    return lambda value: duration(value, option=option) > timedelta()


def _is_backoff(value: object) -> bool:
    return isinstance(value, Backoff | Mapping)


def _is_description(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_DESCRIPTION


def _are_keys(value: object) -> bool:
    return _are_tags(value)


def is_payload_path(value: object) -> bool:
    """True if something names a field of the payload: `args.account_id`."""
    return isinstance(value, str) and _PAYLOAD_PATH.fullmatch(value) is not None


def word_rule(choice: object) -> tuple[Callable[[Any], bool], str]:
    """The words of a Literal, as what an option may be."""
    words = get_args(choice)
    return (lambda value: value in words), " or ".join(map(repr, words))


def _is_web_address(value: object) -> bool:
    return isinstance(value, str) and _WEB_ADDRESS.fullmatch(value) is not None


#: No other scheme: pages show it as a link.
_WEB_ADDRESS = re.compile(r"https?://[!-~]{1,1990}")
_NAME = (is_name, "text of 1 to 191 characters that print, with no space at either end")
_FLAG = (lambda value: isinstance(value, bool), "true or false")
_OBJECT = (lambda value: isinstance(value, Mapping), "an object of names and values")
_DAYS = (_is_days, "0 to 36500, or 'forever'")
_LEAST_ONE = (whole_number_rule(1), "1 or more")

#: What an option may be, and in words. Rates and priorities are checked by what reads them.
ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "enabled": _FLAG,
    "max_attempts": (whole_number_rule(1, 100), "1 to 100"),
    "backoff": (_is_backoff, "a windlass.Backoff"),
    "timeout": (_is_positive("timeout"), "more than 0"),
    "timeout_seconds": (_is_positive("timeout_seconds"), "more than 0"),
    "max_concurrency": _LEAST_ONE,
    "max_per_key": _LEAST_ONE,
    "retention_days": _DAYS,
    "log_retention_days": _DAYS,
    "retention_count": _LEAST_ONE,
    "tags": (_are_tags, f"a list of texts, at most {_MOST_TAGS}"),
    "metadata": _OBJECT,
    "runbook_url": (_is_web_address, "an http:// or https:// address of at most 2,000 characters"),
    "title": _NAME,
    "description": (_is_description, f"text of at most {_LONGEST_DESCRIPTION:,} characters"),
    "queue": _NAME,
    "limit_key": (is_payload_path, "a field of the payload, such as 'args.account_id'"),
    "dedupe": word_rule(Literal["payload"]),
    "dedupe_window": (_is_positive("dedupe_window"), "more than 0"),
    "dedupe_window_seconds": (_is_positive("dedupe_window_seconds"), "more than 0"),
    "on_duplicate": word_rule(OnDuplicate),
    "isolation": word_rule(Isolation),
    "memory_limit_mb": (
        whole_number_rule(LEAST_MEMORY_MB, MOST_MEMORY_MB),
        f"{LEAST_MEMORY_MB} to {MOST_MEMORY_MB}",
    ),
    "idempotent": _FLAG,
    "requires_permission": _NAME,
    "on_parent_failure": word_rule(ParentFailure),
    "on_dead_letter": _NAME,
    "after": (_are_keys, "a list of definitions' keys"),
    "default_payload": _OBJECT,
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


def _backoff(value: Any) -> Fields:
    if value is None:
        return {"backoff": None}
    found = value if isinstance(value, Backoff) else Backoff.from_json(value)
    return {"backoff": dump_json(found.to_json())}


def _length(option: str, name: str) -> Callable[[Any], Fields]:
    def fields(value: Any) -> Fields:
        if value is None:
            return {name: None}
        return {name: duration(value, option=option).total_seconds()}

    return fields


def _description(value: str) -> Fields:
    dump_json(value, what="description")
    return {"description": value}


#: An option as the fields of a definition.
FIELDS: Mapping[str, Callable[[Any], Fields]] = {
    "enabled": _as_is("enabled"),
    "priority": lambda value: {"priority": priority(value)},
    "max_attempts": _as_is("max_attempts"),
    "backoff": _backoff,
    "timeout": _length("timeout", "timeout_seconds"),
    "timeout_seconds": _length("timeout_seconds", "timeout_seconds"),
    "max_concurrency": _as_is("max_concurrency"),
    "max_per_key": _as_is("max_per_key"),
    "rate_limit": _rate("rate_limit", "rate_count", "rate_seconds"),
    "rate_per_key": _rate("rate_per_key", "key_rate_count", "key_rate_seconds"),
    "retention_days": _retention("retention_days"),
    "log_retention_days": _retention("log_retention_days"),
    "retention_count": _as_is("retention_count"),
    "tags": lambda value: {"tags": tuple(value)},
    "metadata": lambda value: {"metadata": load_json(metadata_text(value))},
    "runbook_url": _as_is("runbook_url"),
    "title": _as_is("title"),
    "description": _description,
    "queue": _as_is("queue"),
    "limit_key": _as_is("limit_key"),
    "dedupe": _as_is("dedupe"),
    "dedupe_window": _length("dedupe_window", "dedupe_window_seconds"),
    "dedupe_window_seconds": _length("dedupe_window_seconds", "dedupe_window_seconds"),
    "on_duplicate": _as_is("on_duplicate"),
    "isolation": _as_is("isolation"),
    "memory_limit_mb": _as_is("memory_limit_mb"),
    "idempotent": _as_is("idempotent"),
    "requires_permission": _as_is("requires_permission"),
    "on_parent_failure": _as_is("on_parent_failure"),
    "on_dead_letter": _as_is("on_dead_letter"),
    "after": lambda value: {"runs_after": tuple(dict.fromkeys(value))},
    "default_payload": lambda value: {
        "default_payload": dump_json(dict(value), what="default payload")
    },
}
#: What `@wl.job(...)` reads as an operator's edit is read; the rest it reads by itself.
RUNNING = frozenset(
    [
        "enabled",
        "priority",
        "max_attempts",
        "backoff",
        "timeout",
        "max_concurrency",
        "max_per_key",
        "rate_limit",
        "rate_per_key",
        "retention_days",
        "log_retention_days",
        "retention_count",
        "tags",
        "metadata",
        "runbook_url",
    ]
)
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
        "limit_key",
        "dedupe",
        "dedupe_window",
        "dedupe_window_seconds",
        "memory_limit_mb",
        "requires_permission",
        "on_dead_letter",
        "runbook_url",
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
    """The fields of a definition that an option sets; OptionInvalid if the option is unknown."""
    _check_known("reset", name)
    return {
        "timeout": ("timeout_seconds",),
        "dedupe_window": ("dedupe_window_seconds",),
        "after": ("runs_after",),
        "rate_limit": ("rate_count", "rate_seconds"),
        "rate_per_key": ("key_rate_count", "key_rate_seconds"),
    }.get(name, (name,))


def _check_known(verb: str, name: str) -> None:
    if name not in FIELDS:
        raise OptionInvalid(verb, name, allowed=f"one of {', '.join(sorted(FIELDS))}")
