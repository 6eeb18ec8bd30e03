"""The three databases, and the selection of them for a test run."""

import os
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["sqlite", "postgresql", "mariadb"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: For each server, the variable that names one to use instead of a private instance.
URL_VARIABLES: dict[Kind, str] = {
    "postgresql": "WINDLASS_TEST_POSTGRES_URL",
    "mariadb": "WINDLASS_TEST_MARIADB_URL",
}


class NoDatabase(Exception):
    """A requested database is not available; the message gives the reason and a fix."""


@dataclass(frozen=True)
class Database:
    """A database of one test's own."""

    kind: Kind
    url: str


def requested_kinds() -> tuple[Kind, ...]:
    """The databases named in WINDLASS_TEST_DATABASES (`sqlite,postgresql`), by default all."""
    text = os.environ.get("WINDLASS_TEST_DATABASES", "")
    words = text.replace(",", " ").split() or KINDS
    if unknown := set(words) - set(KINDS):
        raise NoDatabase(
            f"WINDLASS_TEST_DATABASES={text!r}: {', '.join(sorted(unknown))} "
            f"is not one of {', '.join(KINDS)}"
        )
    return tuple(kind for kind in KINDS if kind in words)
