"""Backoff: the delay before a failed job is tried again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal, Self, get_args

from windlass.core.durations import LONGEST, duration
from windlass.errors import OptionInvalid

BackoffKind = Literal["exponential", "fixed", "list", "none"]
KINDS: tuple[BackoffKind, ...] = get_args(BackoffKind)

_LONGEST_SECONDS = LONGEST.total_seconds()
_MOST_DELAYS = 100
_MOST_ATTEMPTS = 1_000_000
_SECONDS = "seconds from 0 to 100 years"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The delay after the n-th attempt: `min(cap, base * factor ** (n - 1) + U(0, jitter))`.

    `fixed` waits `base` every time, `list` the n-th of `delays` (the last one repeats), `none` not
    at all; these three are spread by `jitter` too, if it is set. All in seconds.
    """

    kind: BackoffKind = "exponential"
    base: float = 5.0
    factor: float = 2.0
    cap: float = 300.0
    jitter: float = 1.0
    delays: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def exponential(
        cls,
        base: str | timedelta | float = 5.0,
        *,
        factor: float = 2.0,
        cap: str | timedelta | float = 300.0,
        jitter: str | timedelta | float = 1.0,
    ) -> Self:
        """Wait longer each time, up to `cap`."""
        return cls(
            base=_seconds(base, "base"),
            factor=factor,
            cap=_seconds(cap, "cap"),
            jitter=_seconds(jitter, "jitter"),
        )

    @classmethod
    def fixed(
        cls, delay: str | timedelta | float, *, jitter: str | timedelta | float = 0.0
    ) -> Self:
        """Wait the same every time."""
        return cls(kind="fixed", base=_seconds(delay, "base"), jitter=_seconds(jitter, "jitter"))

    @classmethod
    def listed(
        cls, *delays: str | timedelta | float, jitter: str | timedelta | float = 0.0
    ) -> Self:
        """Wait these delays in turn; the last one repeats."""
        return cls(
            kind="list",
            delays=tuple(_seconds(delay, "delays") for delay in delays),
            jitter=_seconds(jitter, "jitter"),
        )

    @classmethod
    def none(cls) -> Self:
        """Try again at once."""
        return cls(kind="none", jitter=0.0)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`. Keys left out have their defaults; OptionInvalid if wrong."""
        unknown = value.keys() - _JSON_KEYS.keys()
        _require(not unknown, "keys", sorted(unknown), f"some of {', '.join(_JSON_KEYS)}")
        given = {_JSON_KEYS[key]: part for key, part in value.items()}
        if "delays" in given:
            _require(isinstance(given["delays"], list | tuple), "delays", given["delays"], "a list")
            given["delays"] = tuple(given["delays"])
        if given.get("kind", "exponential") != "exponential":
            given.setdefault("jitter", 0.0)
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every value, its unit in the key."""
        made = {key: getattr(self, name) for key, name in _JSON_KEYS.items()}
        return made | {"delays_seconds": list(self.delays)}


_JSON_KEYS = {
    "kind": "kind",
    "base_seconds": "base",
    "factor": "factor",
    "cap_seconds": "cap",
    "jitter_seconds": "jitter",
    "delays_seconds": "delays",
}


def delay(backoff: Backoff, attempts_made: int, random: Random) -> timedelta:
    """The delay after `attempts_made` attempts; any number is clamped, none overflows."""
    made = min(max(1, attempts_made), _MOST_ATTEMPTS)
    seconds = _fixed_delay(backoff, made) + random.uniform(0, backoff.jitter)
    cap = backoff.cap if backoff.kind == "exponential" else _LONGEST_SECONDS
    return timedelta(seconds=min(cap, seconds))


def _fixed_delay(backoff: Backoff, made: int) -> float:
    match backoff.kind:
        case "exponential":
            return _exponential_delay(backoff, made)
        case "fixed":
            return backoff.base
        case "list":
            return backoff.delays[min(made, len(backoff.delays)) - 1]
        case "none":
            return 0.0


def _exponential_delay(backoff: Backoff, made: int) -> float:
    try:
        return float(backoff.base * float(backoff.factor) ** (made - 1))
    except OverflowError:
        return backoff.cap if backoff.base else 0.0


def _seconds(value: str | timedelta | float, name: str) -> float:
    return duration(value, option=f"backoff.{name}").total_seconds()


def _check(backoff: Backoff) -> None:
    _require(backoff.kind in KINDS, "kind", backoff.kind, f"one of {', '.join(KINDS)}")
    times = {"base": backoff.base, "cap": backoff.cap, "jitter": backoff.jitter}
    for name, seconds in [*times.items(), *(("delays", delay) for delay in backoff.delays)]:
        _require(_is_in_range(seconds, 0, _LONGEST_SECONDS), name, seconds, _SECONDS)
    _require(
        _is_in_range(backoff.factor, 1, 1000), "factor", backoff.factor, "a number from 1 to 1000"
    )
    if backoff.kind == "exponential":
        least = f"at least the base of {backoff.base:g} s"
        _require(backoff.cap >= backoff.base, "cap", backoff.cap, least)
    if backoff.kind == "list":
        some = 0 < len(backoff.delays) <= _MOST_DELAYS
        _require(some, "delays", backoff.delays, f"1 to {_MOST_DELAYS} delays")


def _is_in_range(value: object, low: float, high: float) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return low <= value <= high


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise OptionInvalid(f"backoff.{name}", value, allowed=allowed)
