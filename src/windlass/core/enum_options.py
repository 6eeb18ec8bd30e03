"""Options that are one of a few words or numbers."""

from typing import Any, get_args

from windlass.errors import OptionInvalid


def one_of(option: str, value: object, choice: object) -> Any:
    """`value`, if it is one of the words of the Literal `choice`."""
    words = get_args(choice)
    if value not in words:
        raise OptionInvalid(option, value, allowed=", ".join(words[:-1]) + f" or {words[-1]}")
    return value


def attempts(value: object) -> int:
    """`value`, if a job may have so many attempts."""
    if type(value) is not int or not 1 <= value <= 100:
        raise OptionInvalid("max_attempts", value, allowed="1 to 100")
    return value
