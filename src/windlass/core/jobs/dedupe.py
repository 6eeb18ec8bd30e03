"""When two jobs count as the same, and which names and keys can be stored."""

import hashlib
import json
import re

from windlass.errors import OptionInvalid
from windlass.errors.wording import prints

#: Characters. What an index of every database can hold, in any script.
LONGEST_NAME = 191

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
#: Joiners and letters without a shape: in a name they only make it look like another one.
_INVISIBLE = "\u034f\u115f\u1160\u200c\u200d\u2800\u3164\uffa0"


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
    """`value` itself, if something new may have it as its name; OptionInvalid names it by `kind`.

    A name is text of 1 to `limit` characters that print, with no space at either end. It is shown to
    other people, in terminals, logs and lists.
    """
    allowed = f"text of 1 to {limit} characters that print, with no space at either end"
    text = _sized(kind, value, limit, allowed)
    problem = _find_unprintable(text, _INVISIBLE) or _find_space_at_ends(text)
    if problem:
        raise OptionInvalid(kind, text, allowed=allowed, problem=problem)
    return text


def check_app_key(kind: str, value: object, limit: int = LONGEST_NAME) -> str:
    """`value` itself, if it can be a key that an application makes of its own data.

    Such a key is text of 1 to `limit` characters that print; it may begin and end with spaces.
    """
    allowed = f"text of 1 to {limit} characters that print"
    text = _sized(kind, value, limit, allowed)
    if problem := _find_unprintable(text):
        raise OptionInvalid(kind, text, allowed=allowed, problem=problem)
    return text


def check_stored(kind: str, value: object, limit: int = LONGEST_NAME) -> str:
    """`value` itself, if it can be the name of something that is stored already.

    Names were free text once: what is only looked up may have any name that a database keeps.
    """
    allowed = f"text of 1 to {limit} characters without NUL"
    text = _sized(kind, value, limit, allowed)
    if _UNSTORABLE.search(text):
        raise OptionInvalid(kind, text, allowed=allowed)
    return text


def is_name(value: object, limit: int = LONGEST_NAME) -> bool:
    """True if `check_name` lets a value pass."""
    try:
        check_name("name", value, limit)
    except OptionInvalid:
        return False
    return True


def _sized(kind: str, value: object, limit: int, allowed: str) -> str:
    if isinstance(value, str) and 0 < len(value) <= limit:
        return value
    raise OptionInvalid(kind, value, allowed=allowed)


def _find_unprintable(text: str, also: str = "") -> str:
    """The first character that does not print, and where it is; empty if all do."""
    if text.isascii() and text.isprintable():
        return ""
    for place, character in enumerate(text, 1):
        if character in also or not prints(character):
            return f"character {place} is U+{ord(character):04X}, which does not print"
    return ""


def _find_space_at_ends(text: str) -> str:
    return "" if text == text.strip() else "it begins or ends with a space"
