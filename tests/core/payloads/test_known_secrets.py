"""Redaction of known secrets in any encoding."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.payloads.redact import MASK, redact_text

SECRET = "hunter2/ö+?=& sea"
RAW = SECRET.encode()


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        RAW.hex(),
        RAW.hex().upper(),
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        "hunter2%2f%c3%b6%2b%3f%3d%26%20sea",
        base64.b64encode(RAW).decode(),
        base64.b64encode(RAW).decode().rstrip("="),
        base64.urlsafe_b64encode(RAW).decode(),
    ],
)
@pytest.mark.parametrize("before", ["", "x" * 5_000 + " "], ids=["short", "long"])
def test_every_encoding_of_a_secret_is_hidden(form, before):
    assert KnownSecrets([SECRET]).hide(f"{before}key={form};") == f"{before}key={MASK};"


@given(st.binary(max_size=9), st.binary(max_size=9))
def test_base64_is_found_at_any_offset(before, after):
    encoded = base64.b64encode(before + RAW + after).decode()

    shown = KnownSecrets([SECRET]).hide(encoded)

    assert MASK in shown
    assert len(shown.replace(MASK, "")) <= len(encoded) - (len(RAW) - 2) * 4 // 3


def test_each_line_of_a_multi_line_secret_is_hidden():
    key = "-----BEGIN THING-----\nabcdefghijkl\nmnopqrstuvwx\n"

    secrets = KnownSecrets([key])

    assert secrets.hide("line: mnopqrstuvwx") == f"line: {MASK}"


def test_many_secrets_are_all_hidden():
    secrets = [f"{n:05}-secret" for n in range(500)]
    text = " ".join(f"{secret} and {secret[::-1]}" for secret in secrets)

    shown = KnownSecrets(secrets).hide(text)

    assert shown == " ".join(f"{MASK} and {secret[::-1]}" for secret in secrets)


class CountingStr(str):
    """Counts the characters that are compared with it."""

    __slots__ = ("compared", "looks")

    def __getitem__(self, place):
        self.looks += 1
        return super().__getitem__(place)

    def startswith(self, form, at):
        self.compared += len(form)
        return super().startswith(form, at)


@pytest.mark.parametrize(
    "secrets",
    [
        ["aaaa" * 20 + "b" + "a" * n for n in range(100)],
        ["aaaaaaab"],
        [f"aaaaaaaa{n}" for n in range(3_000)],
        [f"{n:08}" for n in range(20_000)],
    ],
    ids=["alike", "one", "alike and many", "many"],
)
@pytest.mark.parametrize("piece", ["a", "aaaaaaaab", "00000001"])
def test_redaction_is_linear_in_the_number_of_secrets(secrets, piece):
    known = KnownSecrets(secrets)

    def work(size):
        text = CountingStr(piece * (size // len(piece)))
        text.compared = text.looks = 0
        known.hide(text)
        return text.compared + text.looks

    assert work(40_000) <= 18 * 40_000 + 100_000
    assert work(80_000) <= 18 * 80_000 + 100_000


def test_the_redactor_hides_encodings_of_given_secrets():
    assert redact_text(f"sent {RAW.hex()}", [SECRET]) == f"sent {MASK}"


def test_short_secrets_are_not_searched_for():
    assert not KnownSecrets(["", "a", "abc"])
