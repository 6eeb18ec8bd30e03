"""Requests with extreme numbers, dates and text, derived from generated ones."""

import json
import random
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

DIGITS = "1" + "0" * 400
TEXTS = [
    "",
    " ",
    "\0",
    "a\0b",
    "\x07\x1b[31m",
    "\x85\x9b31m",
    "\u202eabc\u2066",
    "\ud800",
    "x\udfff\ud800",
    "\N{GRINNING FACE}" * 50,
    "ü日本",
    "é" * 191,
    "x" * 192,
    "x" * 10_000,
    "'; drop table windlass_live; --",
    "%",
    "_",
    "\\",
    '"',
    "../..",
    "//",
    "{{event.x}}",
    "{0}",
    "%s%n",
    "null",
    "*",
    "system",
    "windlass.x",
    "-1",
    "NaN",
    DIGITS,
]
DATES = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-23:59",
    "1969-12-31T23:59:59Z",
    "2999-12-31T00:00:01Z",
    "2026-02-30T00:00:00Z",
    "2026-07-01",
    "2026-07-01T10:00:00",
    "2026-07-01T25:00:00+99:99",
    "+999999-01-01T00:00:00Z",
    "-100y",
    "-36525d",
    "+36525d",
]
NUMBERS = [
    "0",
    "-0",
    "-0.0",
    "-1",
    "1",
    "1e308",
    "-1e308",
    "1e400",
    "5e-324",
    "1e-400",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1.5",
    "1e15",
    "1e22",
    DIGITS,
    f"-{DIGITS}",
    f"0.{DIGITS}",
    "NaN",
    "Infinity",
    "-Infinity",
]
#: JSON as it is written.
OTHERS = [
    "null",
    "true",
    "[]",
    "{}",
    '{"a":1,"a":2}',
    '{"":""}',
    '{"\\u0000":1}',
    '{"\\ud800":1}',
    "[" * 70 + "]" * 70,
    '{"a":' * 70 + "1" + "}" * 70,
    '[null,1,"a",{}]',
]
FILTERS = [
    "payload.n:>{number}",
    "payload.n:{text}",
    "payload.n:{text}*",
    "attempts:>{number}",
    "priority:<={number}",
    "created:>{date}",
    "due:<{date}",
    "duration:>{number}s",
    "fingerprint:{text}*",
    "source:{text}",
    "tenant:{text} queue:{text} worker:{text}",
    "by:{text}* -tag:{text}",
    'error:"{text}"',
    "id:{text}",
    "correlation:{text} state:dead_letter",
]


@dataclass(frozen=True)
class Sent:
    """A request as it goes over the wire."""

    method: str
    path: str
    params: list[tuple[str, str]]
    headers: list[tuple[str, bytes]] = field(default_factory=list)
    body: bytes | None = None


class Mutation:
    """Makes one extreme request of a generated case; equal dice make equal requests."""

    def __init__(self, dice: int, known: dict[str, list[str]]) -> None:
        self._random = random.Random(dice)
        self._known = known
        self._raw: list[str] = []

    def sent(self, case: Any) -> Sent:
        return Sent(
            case.method,
            self._path(case),
            self._params(case),
            self._headers(case),
            self._body(case),
        )

    def _path(self, case: Any) -> str:
        path = case.path
        noun = path.removeprefix("/api/v1/").split("/")[0]
        for name, value in (case.path_parameters or {}).items():
            choice = self._random.random()
            if choice < 0.75 and noun in self._known:
                value = self._pick(self._known[noun])
            elif choice < 0.9:
                value = self._text() or "x"
            path = path.replace(f"{{{name}}}", _quoted(str(value)))
        return path

    def _params(self, case: Any) -> list[tuple[str, str]]:
        query = {name: value for name, value in (case.query or {}).items() if value is not None}
        for parameter in case.operation.query:
            if self._random.random() < 0.3:
                query[parameter.name] = self._value(parameter.name)
        pairs: list[tuple[str, str]] = []
        for name, value in query.items():
            several = value if isinstance(value, list) else [value]
            pairs += [
                (name, each if isinstance(each, str) else json.dumps(each)) for each in several
            ]
        return pairs

    def _value(self, name: str) -> str:
        if name == "q":
            return self._filter()
        if name == "tenant":
            return self._pick(["acme", "scratch", "nobody", self._text()])
        if name == "topics":
            return self._pick(["jobs", "job:x", f"job:{DIGITS}", self._text()])
        return self._pick([self._text, self._number, self._date])()

    def _filter(self) -> str:
        terms = self._random.sample(FILTERS, self._random.randint(1, 3))
        return " ".join(
            term.format(text=self._text()[:300], number=self._number(), date=self._date())
            for term in terms
        )

    def _headers(self, case: Any) -> list[tuple[str, bytes]]:
        headers = []
        for name in ("idempotency-key", "last-event-id", "x-request-id", "user-agent", "accept"):
            if self._random.random() < 0.15:
                text = self._text()[:3_000].encode("utf-8", "surrogatepass")
                headers.append(
                    (name, bytes(c for c in text if c >= 32 and c != 127).strip() or b"x")
                )
        return headers

    def _body(self, case: Any) -> bytes | None:
        if not case.operation.body:
            return None
        body = case.body if isinstance(case.body, dict | list) else {}
        if self._random.random() < 0.03:
            return self._pick([b"", b"{", b"\xff\xfe", b"[1,", b"\xef\xbb\xbf{}", b"null", b"7"])
        if self._random.random() < 0.9:
            for _ in range(self._pick([1, 1, 1, 2, 3])):
                body = self._changed(body)
        return self._written(body)

    def _changed(self, value: Any, depth: int = 0) -> Any:
        """The value with one part replaced."""
        stop = depth > 0 and self._random.random() < 0.5
        if isinstance(value, dict) and value and not stop:
            name = self._pick(sorted(value))
            return {**value, name: self._changed(value[name], depth + 1)}
        if isinstance(value, list) and value and not stop:
            place = self._random.randrange(len(value))
            return [*value[:place], self._changed(value[place], depth + 1), *value[place + 1 :]]
        if isinstance(value, dict) and not value and depth == 1:
            return {"n": self._extreme(value)}
        return value if depth == 0 else self._extreme(value)

    def _extreme(self, value: Any) -> str:
        """A mark that stands for JSON as it is written, most often of the same type."""
        if self._random.random() < 0.25:
            raw = self._pick(OTHERS)
        elif isinstance(value, bool) or not isinstance(value, int | float | str):
            raw = self._pick([self._number(), json.dumps(self._text()), *OTHERS])
        elif isinstance(value, str):
            raw = json.dumps(self._pick([self._text, self._text, self._date])())
        else:
            raw = self._number()
        self._raw.append(raw)
        return f"@@{len(self._raw) - 1}@@"

    def _written(self, body: Any) -> bytes:
        text = json.dumps(body)
        for place, raw in enumerate(self._raw):
            text = text.replace(f'"@@{place}@@"', raw)
        return text.encode()

    def _text(self) -> str:
        return self._pick(TEXTS)

    def _number(self) -> str:
        return self._pick(NUMBERS)

    def _date(self) -> str:
        return self._pick(DATES)

    def _pick(self, choices: list[Any]) -> Any:
        return self._random.choice(choices)


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")
