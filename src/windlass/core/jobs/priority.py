"""Priorities: whole numbers, lower runs first, four of which have names."""

from collections.abc import Mapping
from types import MappingProxyType

from windlass.errors import OptionInvalid

#: What fits the column on every database.
LOWEST, HIGHEST = -32_768, 32_767

NAMES: Mapping[str, int] = MappingProxyType({"critical": 25, "high": 50, "normal": 100, "low": 200})


def priority(value: int | str) -> int:
    """The number meant by a number or one of the four names; OptionInvalid otherwise."""
    if isinstance(value, str) and value in NAMES:
        return NAMES[value]
    # True is a number to Python, but nobody means a priority by it.
    if isinstance(value, int) and not isinstance(value, bool) and LOWEST <= value <= HIGHEST:
        return value
    raise OptionInvalid(
        "priority",
        value,
        allowed=f"a whole number from {LOWEST} to {HIGHEST}, or {', '.join(NAMES)}",
    )


def name_of(value: int) -> str | None:
    """The name of a priority that has one."""
    return next((name for name, number in NAMES.items() if number == value), None)
