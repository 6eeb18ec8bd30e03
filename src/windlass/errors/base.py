"""Base class of every error, and the parts of one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field. `pointer` is a JSON pointer, empty for the whole value."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


class WindlassError(Exception):
    """The root of every error Windlass raises.

    `message` says what happened, `reason` why (may be empty), `hint` what to do. Each is made of
    whole sentences in plain words, safe to show: no payload, secret or connection string is in
    them. `errors` lists the fields at fault, where there are any.
    """

    code: ClassVar[str] = "WL1000"
    #: Whether it refuses an attempt that is in the audit already.
    recorded: bool = False

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        hint: str = "",
        errors: Sequence[FieldError] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.hint = hint
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return " ".join(part for part in (self.message, self.reason, self.hint) if part)

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructors take other things than the message, and errors of a handler in a
        # process of its own have to travel to the worker.
        return _revive, (type(self), self.args, self.__dict__)


def by_code() -> Mapping[str, type[WindlassError]]:
    """Every error class by its code: for explaining, and for listing them in the docs.

    A special case that keeps the code of the class above it is not listed apart.
    """
    kinds = [kind for kind in _tree(WindlassError) if "code" in vars(kind)]
    return {kind.code: kind for kind in sorted(kinds, key=lambda kind: kind.code)}


def _tree(root: type[WindlassError]) -> Iterator[type[WindlassError]]:
    yield root
    for kind in root.__subclasses__():
        yield from _tree(kind)


def _revive(
    kind: type[WindlassError], args: tuple[Any, ...], state: dict[str, Any]
) -> WindlassError:
    made = kind.__new__(kind, *args)
    made.args = args
    made.__dict__.update(state)
    return made
