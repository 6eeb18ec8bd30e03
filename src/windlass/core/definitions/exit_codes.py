"""Exit codes of commands: success, retry or permanent failure."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from windlass.errors import CommandTemplateInvalid, FieldError
from windlass.errors.wording import json_pointer, listed, quoted

HIGHEST = 255


class Meaning(StrEnum):
    """Meaning of an exit code for the attempt: success, retry, or failure for good."""

    SUCCESS = "success"
    RETRY = "retry"
    PERMANENT = "permanent"


_USUAL = MappingProxyType({0: Meaning.SUCCESS})


@dataclass(frozen=True, slots=True)
class ExitCodes:
    """Exit codes with a meaning of their own. 0 is success and others are retried, if not listed."""

    meanings: Mapping[int, Meaning] = field(default_factory=lambda: _USUAL)

    def meaning(self, code: int) -> Meaning:
        """Meaning of an exit code. A negative one is the signal that ended the command: retried."""
        return self.meanings.get(code, Meaning.RETRY)


def parse(codes: object, *, definition: str) -> ExitCodes:
    """Read `{0: "success", 75: "retry", 64: "permanent"}`; numbers may be text, as in TOML.

    CommandTemplateInvalid names every code and meaning that cannot be.
    """
    if not isinstance(codes, Mapping):
        error = FieldError("/exit_codes", "is not an object of exit codes and their meanings")
        raise CommandTemplateInvalid(definition, [error])
    read: dict[int, Meaning] = dict(_USUAL)
    errors: list[FieldError] = []
    for code, word in codes.items():
        place = json_pointer(["exit_codes", str(code)])
        number = _number(code)
        if number is None:
            errors.append(FieldError(place, f"is no exit code: give 0 to {HIGHEST}"))
        elif word not in tuple(Meaning):
            errors.append(FieldError(place, f"{quoted(word)} is not {_WORDS}"))
        else:
            read[number] = Meaning(word)
    if errors:
        raise CommandTemplateInvalid(definition, errors[:20])
    return ExitCodes(MappingProxyType(read))


def in_words(code: int) -> str:
    """The end of a command in words: `exited with code 64`, `was ended by signal SIGKILL`."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


_WORDS = listed([quoted(str(word)) for word in Meaning]).replace(" and ", " or ")


def _number(code: object) -> int | None:
    if isinstance(code, str) and len(code) <= 3 and code.isascii() and code.isdecimal():
        code = int(code)
    # To Python, true is 1.
    if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= HIGHEST:
        return None
    return code
