"""Every question can be asked: once, small and without peers, on real databases."""

from collections.abc import Iterator

import pytest

from benchmarks.asking import ask, told
from benchmarks.questions import NAMES
from benchmarks.stage import Stage
from tests.databases.kinds import requested_kinds
from tests.databases.plugin import SERVERS

ON_SQLITE = {"sqlite", "shell", "redaction", "pages"}
ON_MARIADB = {"mariadb", "databases", "lists", "screens"}


@pytest.fixture
def stage(pytestconfig: pytest.Config) -> Iterator[Stage]:
    servers = pytestconfig.stash[SERVERS]
    urls = {kind: servers.url(kind) for kind in requested_kinds() if kind != "sqlite"}
    with Stage(toy=True, urls=urls) as stage:
        yield stage


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.database("mariadb" if name in ON_MARIADB else "postgresql"))
        for name in NAMES
        if name not in ON_SQLITE
    ],
)  # fmt: skip
def test_a_question_finds_an_answer(name: str, stage: Stage) -> None:
    answer = ask(name, stage)

    assert answer.findings
    assert all(finding.measure in told(answer) for finding in answer.findings)


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("name", sorted(ON_SQLITE))
def test_what_is_asked_of_sqlite_needs_no_server(name: str) -> None:
    with Stage(toy=True) as stage:
        answer = ask(name, stage)

    assert answer.findings[0].ours.median > 0
