"""The last line of a test run: what ran on which database."""

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.databases.kinds import Kind, requested_kinds
from tests.databases.plugin import SERVERS, Databases, kind_of

_OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


def pytest_itemcollected(item: pytest.Item) -> None:
    # A property of the report, because it travels from xdist's processes to the first one.
    item.user_properties.append(("database", kind_of(item)))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    counts: dict[Kind | None, Counter[str]] = {}
    for outcome in _OUTCOMES:
        for report in terminalreporter.stats.get(outcome, ()):
            properties = dict(getattr(report, "user_properties", ()))
            counts.setdefault(properties.get("database"), Counter())[outcome] += 1
    if not counts:
        return
    parts = []
    with closing(Databases(config.stash[SERVERS], Path())) as databases:
        for kind in requested_kinds():
            if kind in counts:
                parts.append(f"{_named(kind, databases)}: {count_text(counts[kind])}")
            else:
                parts.append(f"{kind}: nothing ran")
    if None in counts:
        parts.append(f"none: {count_text(counts[None])}")
    terminalreporter.write_line(f"databases: {' · '.join(parts)}")


def _named(kind: Kind, databases: Databases) -> str:
    try:
        return f"{kind} {databases.supply(kind).version()}"
    except Exception:  # a server that died must not hide the failures listed after this
        return kind


def count_text(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _OUTCOMES if counts[outcome])
