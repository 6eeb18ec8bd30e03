"""Untrusted text is shown escaped in messages and terminals."""

import json
import re
import sys

import pytest

from tests.cli.framework.test_help import COMMANDS
from tests.errors.test_errors import EXAMPLES
from windlass.cli.main import COMMANDS as LISTED
from windlass.core.payloads.json_text import printable_json
from windlass.errors import WindlassError
from windlass.errors.remedies import remedies
from windlass.errors.wording import printable, quoted

HARMFUL = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u2060\ufeff\ufff9\U000e0001\U000e0041\ue000\ud800",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
]
HARMLESS = [
    "plain text, ~ and \\x1b spelled out",
    "Zürich 東京　שלום \u00a0 a\u0308",
    "👩\u200d💻 می\u200cخواهم ❤\ufe0f",
]


@pytest.mark.parametrize("character", HARMFUL, ids=ascii)
def test_an_unprintable_character_is_shown_escaped(character: str):
    shown = printable(f"a{character}b")

    assert shown.isascii()
    assert shown.isprintable()
    assert shown[1:-1].encode().decode("unicode_escape") == character
    assert character not in quoted(character)


@pytest.mark.parametrize("text", HARMLESS)
def test_printable_text_is_unchanged(text: str):
    assert printable(text) == text
    assert printable_json(json.dumps(text, ensure_ascii=False)) == json.dumps(
        text, ensure_ascii=False
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_json_escapes_unprintable_characters_and_round_trips(indent: int | None):
    value = {"".join(HARMFUL): [*HARMFUL, *HARMLESS]}

    text = printable_json(json.dumps(value, ensure_ascii=False, indent=indent))

    assert json.loads(text) == value
    assert [line for line in text.split("\n") if printable(line) != line] == []


def test_every_unicode_character_is_printable_or_escaped():
    everything = "".join(map(chr, range(sys.maxunicode + 1)))

    shown = printable(everything)

    assert printable(shown) == shown
    assert not any(character in shown for character in HARMFUL)


#: Words of riddles: an actor without a name, a picture in place of the term.
_UNCLEAR = re.compile(
    r"\b(whoever|somebody|nobody|anew|in line again|mend|go on\b(?! until)|"
    r"tell (which|who|what|how|more|in)|never shown again|in hand)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", COMMANDS)
def test_help_avoids_banned_words(path: str):
    command = COMMANDS[path]
    helps = [str(getattr(param, "help", None) or "") for param in command.params]

    assert [text for text in (command.help or "", *helps) if _UNCLEAR.search(text)] == []


def test_the_command_list_avoids_banned_words():
    assert [each.help for each in LISTED.values() if _UNCLEAR.search(each.help)] == []


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_avoid_banned_words(error: WindlassError):
    # In quotes are the values of callers.
    assert not _UNCLEAR.search(re.sub(r'"[^"]*"', "", str(error)))


def test_causes_and_hints_avoid_banned_words():
    for remedy in remedies().values():
        assert not [text for text in (*remedy.causes, *remedy.cures) if _UNCLEAR.search(text)]
