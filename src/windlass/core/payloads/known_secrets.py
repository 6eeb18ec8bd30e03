"""Secret values of one job, searched for in its output in every usual encoding.

The work per text is linear in its length, however many secrets there are and whatever they are.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from windlass.core.payloads.secret_patterns import MASK

#: Characters. Shorter secrets are not looked for in text: they would be found in every other word.
SHORTEST_SECRET = 4
_SHORTEST_LINE = 8
_SHORTEST_BASE64 = 6
#: Bytes of secrets, together, whose encodings are looked for too. Of more, only the values are.
_MOST_ENCODED_BYTES = 64 * 1024
#: Up to so many forms in so long a text, one search for each is the fastest.
_FEW_FORMS = 64
_SHORT_TEXT = 4 * 1024
#: Characters of a form that a longer text is indexed by.
_LONGEST_GRAM = 8
#: Characters compared per character of the text. After them the first letters decide alone.
_MOST_COMPARED = 16


class KnownSecrets:
    """Replaces secret values in text: as they are, and as JSON, URL, hex and base64 write them.

    Base64 is found wherever the secret stands in what was encoded. Each line of a secret with
    several lines is hidden by itself too, because output is read line by line.
    """

    __slots__ = ("_by_gram", "_forms", "_gram")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = set(_forms([each for each in secrets if len(each) >= SHORTEST_SECRET]))
        self._forms = sorted(forms, key=len, reverse=True)
        self._gram = min((len(self._forms[-1]), _LONGEST_GRAM)) if forms else 0
        self._by_gram: dict[str, list[str]] = {}
        for form in self._forms:
            self._by_gram.setdefault(form[: self._gram], []).append(form)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def hide(self, text: str) -> str:
        """`text` with `•••` in place of every secret."""
        if not self._forms:
            return text
        if len(text) > _SHORT_TEXT or len(self._forms) > _FEW_FORMS:
            return self._hide_in_one_pass(text)
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def _hide_in_one_pass(self, text: str) -> str:
        gram, by_gram = self._gram, self._by_gram
        starts = range(len(text) - gram + 1)
        parts: list[str] = []
        shown_to = 0
        left = _MOST_COMPARED * len(text)
        for at in [at for at in starts if text[at : at + gram] in by_gram]:
            if at < shown_to:
                continue
            for form in by_gram[text[at : at + gram]]:
                left -= len(form)
                if left < 0 or text.startswith(form, at):
                    parts += text[shown_to:at], MASK
                    shown_to = at + len(form)
                    break
        return "".join([*parts, text[shown_to:]]) if parts else text


def _forms(secrets: list[str]) -> Iterator[str]:
    encoded = 0
    for secret in secrets:
        yield secret
        if "\n" in secret:
            lines = (line.strip() for line in secret.splitlines())
            yield from (line for line in lines if len(line) >= _SHORTEST_LINE)
        encoded += len(secret)
        if encoded <= _MOST_ENCODED_BYTES:
            yield from _encodings(secret)


def _encodings(secret: str) -> Iterator[str]:
    raw = secret.encode(errors="surrogatepass")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    for url in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield url
        yield _with_small_escapes(url)
    yield raw.hex()
    yield raw.hex().upper()
    for text in _base64(raw):
        yield text
        yield text.replace("+", "-").replace("/", "_")


def _with_small_escapes(url: str) -> str:
    first, *rest = url.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _base64(raw: bytes) -> Iterator[str]:
    """The secret encoded alone, and the letters it always has in the middle of other bytes."""
    alone = base64.b64encode(raw).decode()
    yield alone
    yield alone.rstrip("=")
    for before in range(3):
        whole = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        shared_with_next = 1 if (before + len(raw)) % 3 else 0
        own = whole[(0, 2, 3)[before] : len(whole) - shared_with_next]
        if len(own) >= _SHORTEST_BASE64:
            yield own


#: Of a job without secrets.
NO_SECRETS = KnownSecrets()
