"""Lines of the ledger as the processes of a chaos run write them."""

import hashlib
import json
import os

from tests.support.processes import ledger

#: The variable that names a process of the run, and the one that names its release.
MEMBER = "CHAOS_MEMBER"
RELEASE = "CHAOS_RELEASE"


def note(what: str, /, *, synced: bool = False, **about: object) -> None:
    """Write a line that says which process of the run wrote it."""
    ledger.note(what, synced=synced, member=os.environ.get(MEMBER, "driver"), **about)


def digest(number: int, text: str) -> str:
    """What a payload has to be when it is read back."""
    return hashlib.sha256(json.dumps([number, text]).encode()).hexdigest()[:16]
