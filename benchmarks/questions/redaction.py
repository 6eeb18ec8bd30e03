"""Redaction: the cost of each pattern on 256 KiB of its worst text."""

import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.findings import Finding, alone
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from windlass.core.jobs.fingerprint import fingerprint
from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.payloads.redact import SECRET_NAMES, Redactor
from windlass.core.payloads.secret_patterns import CREDENTIALS, Assignments, wildcard_rule

QUESTION = "How long can a hostile text keep the redactor busy?"
BYTES = 256 * 1024
#: What is repeated. Each pattern is given each of these; the slowest counts.
PIECES = (
    "-eyJ", "eyJaaaaaaaa.", "://", "://a:", "://a: ", "://a:b@", "bearer ", "Bearer aaaaaaaa ",
    "wl", "-wls_", "-sk_", "-----BEGIN PRIVATE KEY-----", "-----BEGIN AAAAAAAAAAAAAAAAAAAAAAAAAA",
    "-----END ", "-", "secret", "pwd ", "pwd=a ", "pwd:'a' ", "pwd=1,", 'pwd="\\', "p-w-d", "pa",
    "a=", "acme_", "acme_ ", "acme_x_en", "@cor", "a ", '"', "\\", "“", "input_value=",
)  # fmt: skip


def ask(stage: Stage) -> Sequence[Finding]:
    size = stage.jobs(BYTES)  # a toy's text is as short as its piles are low
    figures = stage.alternate({"Windlass": lambda: _slowest(size)})["Windlass"]
    return [alone(measure, figures, measure, "ms") for measure in figures[0]]


def _slowest(size: int) -> Figures:
    texts = [(piece * (size // len(piece) + 1))[:size] for piece in PIECES]
    return {
        f"{name}, the worst 256 KiB": max(_milliseconds(hide, text) for text in texts)
        for name, hide in _searches().items()
    }


def _searches() -> Mapping[str, Callable[[str], object]]:
    rules = (*CREDENTIALS, wildcard_rule("acme_*_end"), wildcard_rule("*@corp"))
    names = tuple(name.replace("_", "") for name in SECRET_NAMES)
    alike = KnownSecrets("acme_" * 20 + f"b{n}" for n in range(100))
    return {
        **{rule.name: rule.hide for rule in rules},
        "assigned secret": Assignments(names).hide,
        "100 known secrets": alike.hide,
        "fingerprint": lambda text: fingerprint("E", text, text),
        "all of them": Redactor(patterns=("acme_*_end", "*@corp")).redact_text,
    }


def _milliseconds(hide: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    hide(text)
    return (time.process_time() - began) * 1_000
