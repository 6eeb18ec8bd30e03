"""Every pattern that searches user text takes linear work.

Work is counted, not timed: see `regex_steps`. Times stand in the benchmark `redaction`.
"""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import windlass
from tests.core.payloads.regex_steps import StepCounter, steps
from windlass.core.jobs import fingerprint as fingerprints
from windlass.core.payloads.redact import SECRET_NAMES
from windlass.core.payloads.secret_patterns import CREDENTIALS, Assignments, wildcard_rule

#: What is repeated to make a text that keeps a pattern busy.
PIECES = (
    "-eyJ", "eyJ", "eyJaaaaaaaa.", "-eyJaaaaaaaa.aaaaaaaa", "://", "://a:", "://a:b@", "a://a",
    "bearer ", "Bearer a ", "-wls_", "wl_", "-sk_", "xoxa-", "-----BEGIN PRIVATE KEY-----",
    "-----END ", "-----BEGIN AAAA", "-----", "secret", "pwd", "pwd=", "pwd-", "pwd ", "p-w-d",
    'pwd="\\', "password: ", "password:true ", "'token':'", "a=", "acme_", "acme_x_en", "_end",
    "a", "A", "0", "9.", "-1", "{", "{{", "{{a", "{{ a", "}", '"', "'", "\\", "“", "`", "=(", " ",
    "\t", "\n", "  \n", "/", "1/ ", "/a", "0:", "::", "@", "a@", "a@a.", "a.", "[", "[a", "--a",
    "input_value=", "input_value=a,", 'File "', 'File "a", line 1, in a', "+00:00", "1Y", "P1", "#",
)  # fmt: skip
_RULES = (
    *CREDENTIALS,
    *map(wildcard_rule, ("acme_*_end", "live_*", "*@corp", "*", "exact", "x*y z")),
)
_ASSIGNMENTS = Assignments(name.replace("_", "") for name in SECRET_NAMES)

#: How the text begins that a pattern is only tried at.
STARTS = ("1/", '"', "P", "0")
#: Patterns that only see text cut to a fixed length, each with the longest run it reads from a place.
BOUNDED = {fingerprints._VARYING.pattern: 500}


def module_patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern that a module of Windlass holds by name, and those of the redactor."""
    found = {f"redact: {rule.name}": rule.pattern for rule in _RULES}
    found["redact: assignments"] = _ASSIGNMENTS.pattern
    for module in pkgutil.walk_packages(windlass.__path__, "windlass."):
        if ".storage" in module.name or module.name.endswith("__main__"):
            continue  # statements and URLs of the installation's own
        if "re.compile(" not in _source(module.name):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                found[f"{module.name}.{name}"] = value
    return found


def _source(name: str) -> str:
    path = Path(windlass.__path__[0], *name.split(".")[1:])
    file = path.with_suffix(".py")
    return (file if file.exists() else path / "__init__.py").read_text()


def _is_anchored(name: str) -> bool:
    """True if a module only matches its pattern at a position, and never searches for it."""
    module, _, own = name.rpartition(".")
    if not module.startswith("windlass."):
        return False
    used = set(re.findall(rf"\b{own}\.(\w+)|_(take)\({own}\)", _source(module)))
    return bool(used) and used <= {("match", ""), ("fullmatch", ""), ("", "take")}


PATTERNS = module_patterns()
ANCHORED = frozenset(filter(_is_anchored, PATTERNS))
LINEAR = {name: p for name, p in PATTERNS.items() if p.pattern not in BOUNDED}


@pytest.mark.parametrize("name", LINEAR)
def test_doubling_the_text_doubles_the_steps(name):
    pattern, anchored, size = LINEAR[name], name in ANCHORED, 150

    for piece in PIECES:
        for start in ("", *(STARTS if anchored else ())):
            once = steps(pattern, start + piece * (size // len(piece)), anchored=anchored)
            twice = steps(pattern, start + piece * (2 * size // len(piece)), anchored=anchored)

            assert twice <= 2.3 * once + 1_000, f"{name} of {start + piece!r}: {once:,}, {twice:,}"


@pytest.mark.parametrize("name", [name for name in PATTERNS if name not in LINEAR])
def test_a_pattern_for_short_text_is_cheap_at_its_maximum_length(name):
    pattern = PATTERNS[name]
    longest_run = BOUNDED[pattern.pattern]

    for piece in PIECES:
        assert steps(pattern, piece * (longest_run // len(piece))) <= 900 * longest_run, piece


@pytest.mark.parametrize("name", PATTERNS)
def test_steps_are_counted_for_actual_re_matches(name):
    pattern = PATTERNS[name]

    for piece in PIECES:
        text = f"x {piece * 3} {piece}"
        counted = [span for span in StepCounter(pattern, text).spans() if span[0] < span[1]]
        assert counted == [m.span() for m in pattern.finditer(text) if m[0]], piece


def test_unnamed_patterns_do_not_search_user_text():
    """Only patterns that a module holds by name are counted above."""
    allowed = {
        "api/local_calls.py",  # the paths of our own routes
        "core/payloads/secret_patterns.py",  # counted as rules of the redactor
        "settings/edit.py",  # lines of the installation's own settings file
        "storage/sql/statements.py",  # our own statements
    }
    root = Path(windlass.__path__[0])

    unnamed = {
        str(path.relative_to(root)) for path in root.rglob("*.py") if _unnamed(path.read_text())
    }

    assert unnamed == allowed


def _unnamed(source: str) -> bool:
    if "re." not in source:
        return False
    tree = ast.parse(source)
    named = {
        id(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) in _SEARCHES and id(call) not in named for call in calls)


_SEARCHES = {
    f"re.{verb}"
    for verb in ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall",
                 "finditer")
}  # fmt: skip
