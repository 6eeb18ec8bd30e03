"""Fingerprint: the cause of a failure, equal for equal causes.

Two failures count as one cause if they agree in the kind of error, in what it said apart from the
values in it (numbers, ids, times, paths, quoted text), and in the function that raised it. Line
numbers and folders do not matter, so a group outlives a deployment.
"""

import hashlib
import json
import re
from types import MappingProxyType
from typing import NamedTuple

from windlass.core.jobs.dedupe import is_name
from windlass.core.text import storable
from windlass.errors import OptionInvalid
from windlass.errors.wording import without_type

#: Characters.
LONGEST = 64


class Fingerprint(NamedTuple):
    """A cause: `key` identifies it, `sentence` describes it for people."""

    key: str
    sentence: str


#: Characters. An error says what it is at its start; a trace ends where it was raised.
_LONGEST_ERROR = 2_000
_LONGEST_TRACE = 64 * 1024
_LONGEST_TYPE = 200
_LONGEST_SENTENCE = 300
_MOST_LINES = 3
#: Part of what is hashed. A change of the rules below makes new groups and needs a new number.
_VERSION = 1

#: Kinds of failure that come from outside and hit whatever line was running.
_PLACELESS = frozenset({"TimedOut", "WorkerLost", "ProcessDied"})
#: Kinds of failure whose text names nothing but whom it hit.
_ONE_CAUSE = MappingProxyType({"WorkerLost": "the worker was lost"})
#: Lines that database libraries add, with the values of the one statement.
_ADDED = ("[parameters:", "(Background on this error")

_FRAME = re.compile(r'^[ |+]{0,64}File "([^"\n]{1,1000})", line [0-9]+, in ([^\n]{1,200})$', re.M)

# One pass from left to right; the first that fits wins. Each run is bounded and starts only where
# none of its characters stands before it, so that no text takes more than linear time.
_VARYING = re.compile(
    r"""
      (?P<kept> (?i:\b(?:code|status|errno|http|signal|sqlstate|exit)) [ :=/#]{1,2} [0-9]{1,5} \b )
    | (?P<url> \b (?P<scheme>[a-z][a-z0-9+.]{1,15}://) (?P<host>[^\s/?\#'"<>]{1,256})
               [^\s'"<>]{0,1500} )
    | (?P<input> \b input_value= .{0,500}? (?=,[ ]input_type=) )
    | (?P<email> (?<![\w.+-]) [\w.+-]{1,64} @ [\w-]{1,64} (?:\.[\w-]{1,64}){1,8} )
    | (?P<value> (?<!\w)'[^'\n]{0,500}+'(?!\w) | "[^"\n]{0,500}+" | `[^`\n]{0,500}+`
               | “[^”\n]{0,500}+” | \{[^{}\n]{0,500}+\} | (?<==)\([^()\n]{0,500}+\) )
    | (?P<time> (?<![\w-]) [0-9]{4}-[0-9]{2}-[0-9]{2}
                (?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?
                   (?:[ ]?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)? (?!\w)
               | (?<![\w:]) [0-9]{1,2}:[0-9]{2}:[0-9]{2} (?:[.,][0-9]{1,9})? (?![\w:]) )
    | (?P<id> (?<![\w-]) [0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12} (?!\w) )
    | (?P<address> \b0x[0-9a-fA-F]{1,32}\b
               | (?<![\w.]) [0-9]{1,3}(?:\.[0-9]{1,3}){3} (?::[0-9]{1,5})? (?![\w.]\w)
               | (?<![\w:]) \[? (?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4} \]? (?::[0-9]{1,5})? (?![\w:]) )
    | (?P<path> (?<![\w/.\\]) (?: [A-Za-z]:\\ [^\s'":*?<>|]{1,500} | \.{0,2} (?:/[\w.@+~=%,-]{1,255}){2,64} )
                /? (?::[0-9]{1,9}){0,2} )
    | (?P<word> \w{1,256} )
    """,
    re.VERBOSE,
)
_DIGITS = re.compile(r"[0-9]+(?:[.,_][0-9]+)*")
_HEX = re.compile(r"[0-9a-fA-F]{8,}")
_NUMBERS = re.compile(r"(?<![\w>])[-+]?<number>(?:[.,]<number>)*")
_LONG_WORD = 12


def check_fingerprint(value: str) -> str:
    """`value` itself, if it can be a fingerprint; the empty one is that of an unknown cause."""
    if value and not (is_name(value, LONGEST) and value.isascii()):
        allowed = (
            f"a fingerprint of up to {LONGEST} ASCII characters, as `windlass dead groups` shows"
        )
        raise OptionInvalid("fingerprint", value, allowed=allowed)
    return value


def fingerprint(error_type: str | None, error: str | None, trace: str | None) -> Fingerprint:
    """The cause of a failure: 16 hex digits, and a sentence without the values of the one failure."""
    kind = _one_line((error_type or "")[:_LONGEST_TYPE])
    said = _ONE_CAUSE.get(kind) or _general(_start(without_type(error_type, error)))
    place = "" if kind in _PLACELESS else _raised_in(trace or "")
    whole = json.dumps([_VERSION, kind, said, place])
    sentence = ": ".join(part for part in (kind, said) if part) or "no error was reported"
    if place:
        sentence = f"{_cut(sentence, _LONGEST_SENTENCE - 4 - len(place))} in {place}"
    return Fingerprint(
        hashlib.sha256(whole.encode()).hexdigest()[:16], _cut(sentence, _LONGEST_SENTENCE)
    )


def _start(error: str) -> str:
    lines = map(_one_line, error[:_LONGEST_ERROR].splitlines())
    telling = [line for line in lines if line and not line.startswith(_ADDED)]
    return " ".join(telling[:_MOST_LINES])


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())


def _general(text: str) -> str:
    general = _NUMBERS.sub("<number>", _VARYING.sub(_generalised, text))
    # After its values are gone, so that their lengths do not decide where the cut falls.
    return _cut(general, _LONGEST_SENTENCE)


def _generalised(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "kept":
            return found[0]
        case "url":
            host = found["host"].rpartition("@")[2]
            return f"{found['scheme']}{_DIGITS.sub('<number>', host)}/…"
        case "input":
            return "input_value=<value>"
        case "word":
            return _word(found[0])
        case kind:
            return f"<{kind}>"


def _word(word: str) -> str:
    digits = sum(character in "0123456789" for character in word)
    if not digits:
        return word
    if digits == len(word):
        return "<number>"
    if _HEX.fullmatch(word) or (len(word) >= _LONG_WORD and digits > 1):
        return "<id>"
    return _DIGITS.sub("<number>", word)


def _raised_in(trace: str) -> str:
    """The innermost function of a Python traceback, as `load (sync.py)`; empty if there is none."""
    frames = _FRAME.findall(storable(trace[-_LONGEST_TRACE:]))
    if not frames:
        return ""
    file, function = frames[-1]
    name = file.replace("\\", "/").rpartition("/")[2]
    return f"{_cut(_one_line(function), 100)} ({_cut(_one_line(name), 100)})"


def _cut(text: str, at: int) -> str:
    return text if len(text) <= at else text[: at - 1] + "…"
