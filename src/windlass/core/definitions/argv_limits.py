"""Which texts may stand in a command line, and how much of them."""

from windlass.core.text import storable
from windlass.errors.wording import counted

#: Bytes of one argument and of all; Linux takes 128 KiB for one. Arguments.
LONGEST_ARGUMENT = 32 * 1024
LONGEST_LINE = 128 * 1024
MOST_ARGUMENTS = 1_000


def argument_problem(text: str) -> str | None:
    """Why a text cannot be an argument of any command; None if it can be."""
    if storable(text) != text:
        return "has a NUL character or half of a surrogate pair"
    if len(text.encode()) > LONGEST_ARGUMENT:
        return f"has more than {LONGEST_ARGUMENT:,} bytes"
    return None


def arguments_problem(argv: list[str]) -> str | None:
    """Why these cannot be the arguments of one command; None if they can be."""
    if len(argv) > MOST_ARGUMENTS:
        return f"there would be more than {counted(MOST_ARGUMENTS, 'argument')}"
    if sum(len(argument.encode()) + 1 for argument in argv) > LONGEST_LINE:
        return f"the arguments would have more than {LONGEST_LINE:,} bytes"
    return None
