"""When two jobs count as the same, and which names and keys can be stored."""

import hashlib
import json
import re

from windlass.errors import OptionInvalid

#: Characters. What an index of every database can hold, in any script.
LONGEST_NAME = 191

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def payload_key(definition: str, payload: object) -> str:
    """The dedupe key of `dedupe="payload"`: equal for equal definition and payload.

    `payload` is a JSON value. The order of an object's keys does not matter; everything else
    does, as written: 1 and 1.0 differ, and so do a field left out and the same field spelled out
    with its default. The key is stable across processes, versions and databases.
    """
    canonical = json.dumps(
        [definition, payload], sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def check_name(kind: str, value: object, limit: int = LONGEST_NAME) -> str:
    """`value` itself, if it can be stored as a name or key; OptionInvalid names it by `kind`."""
    if isinstance(value, str) and is_name(value, limit):
        return value
    raise OptionInvalid(kind, value, allowed=f"text of 1 to {limit} characters without NUL")


def is_name(value: object, limit: int = LONGEST_NAME) -> bool:
    """Whether something can be stored as a name or key."""
    return isinstance(value, str) and 0 < len(value) <= limit and not _UNSTORABLE.search(value)
