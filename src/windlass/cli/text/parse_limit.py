"""Parses limits: a number, or `none` for no limit."""

from windlass.errors import OptionInvalid

NONE = "none"


def limit_of(option: str, text: str) -> int | None:
    """Parse a limit."""
    if text == NONE:
        return None
    if not text.isdecimal():
        raise OptionInvalid(option, text, allowed="a whole number, or none")
    return int(text)
