"""A command prints the same on a database and over HTTP to a server on that database."""

import difflib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import JOBS, Done, Shell

READS = """
jobs list|jobs list --json|jobs list --state queued,dead_letter|jobs list --limit 1
jobs list --where definition:fail --columns id,state|jobs list --where attempts:>0 --json
jobs show {job} --json|jobs attempts {job} --json|jobs history {job} --json|jobs logs {job} --json
jobs graph {job} --json|jobs explain {job}|dead list --json|dead groups --json
definitions list --json|definitions show hello --json|definitions list --system --json
schedules list --json|schedules show nightly --json|triggers list --json|events list --json
schedules preview --cron 0_2_*_*_*_ --after 2026-03-01T00:00Z --json|schedules preview --every 2h
queues list --json|queues show default --json|workers list --json|logs search hello --json
tenants list --json|tenants show acme --json|members list --json -t acme|users list --json
tokens list --json|audit list --json|audit verify --json|audit head --json
jobs list -t acme --json|jobs list -t nobody --json|queues list -o csv|definitions list -o jsonl
"""
ERRORS = """
jobs show zz|jobs show abcdef1234|jobs list --where bad:1|jobs list --state sleeping
jobs list --cursor nonsense|definitions show nothing|schedules show nothing|events show abcdef1234
tenants show nobody|users show nobody|jobs cancel abcdef1234|jobs cancel {job} {job}
schedules preview --cron bad|logs search x --since yesterday|jobs list -t acme,{long}
schedules create --name {long} --definition hello --every 1d|enqueue nothing|enqueue hello nam=1
enqueue hello name=Ada --priority 99999999999|definitions limits hello --max-concurrency 0
queues pause {long}|tenants create acme|tokens create shop --role nobody|events emit windlass.x
"""
WRITES = """
enqueue hello name=Ada --json|enqueue hello name=Ada --dedupe-key once|enqueue hello name=Ada --dedupe-key once
enqueue hello name=Ada --dry-run|queues pause default --reason busy|queues resume default
queues limits default --max-concurrency 3|tenants create globex --json|tenants suspend globex
tenants delete globex --yes|definitions disable hello|definitions enable hello|definitions limits hello --priority 3
schedules create --name hourly --definition hello --every 1h --json|schedules disable hourly
schedules run hourly|schedules delete hourly --yes|events emit shop.opened who=Ada --json
jobs cancel {queued} --reason no|jobs retry {queued}|jobs update {queued} --priority 7|jobs clone {job}
dead retry {job}|users create grace --json|tenants create later --dry-run|jobs cancel --where state:queued --yes
"""
#: What differs between two databases, or two callers: ids, times, durations, hashes, secrets, names.
_OWN = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{16,64}\b|\b[0-9a-f]{8}\b|\d{4}-\d\d-\d\d[T ][\d:.]+Z?"
    r"|(?<=_seconds\": )[\d.]+|\d+(\.\d+)? ?m?s\b|wlk_[\w-]+|(?<=\"created_by\": ).*|(?<=actor).*"
    r"|(?<=actor_name).*"
)


class Sides(NamedTuple):
    """A shell on a database, and the address of a server on the same database or on a copy."""

    local: Shell
    remote: Shell
    url: str
    names: dict[str, str]

    def run(self, line: str) -> tuple[Done, Done]:
        args = [each.replace("_", " ").strip() if "*" in each else each for each in line.split()]
        args = [each.format_map(self.names) for each in args]
        return self.local.attempt(*args), self.remote.attempt("--url", self.url, *args)


def lines(text: str) -> list[str]:
    return [line for part in text.strip().splitlines() for line in part.split("|")]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, known_jobs: Path) -> Iterator[Shell]:
    """A shell on a database with some of everything."""
    shell = Shell(tmp_path_factory.mktemp("local"))
    shell.write("jobs.py", JOBS)
    shutil.copy(known_jobs, shell.folder / "windlass.db")
    shell.here("enqueue", "hello", "name=Ada")
    shell.here("enqueue", "fail")
    shell.ok("worker", "jobs.py", "--drain")
    shell.here("enqueue", "hello", "name=Grace", "--in", "1d")
    shell.here("schedules", "create", "--name", "nightly", "--definition", "fail", "--every", "1d")
    shell.here("tenants", "create", "acme")
    shell.here("users", "create", "ada")
    shell.here("tokens", "create", "shop", "--role", "superadmin")
    yield shell
    shell.close()


@pytest.fixture(scope="module")
def names(furnished: Shell) -> dict[str, str]:
    [job, *_] = furnished.here("dead", "list", "-o", "id").lines
    [queued, *_] = furnished.here("jobs", "list", "--state", "scheduled", "-o", "id").lines
    return {"job": job, "queued": queued, "long": "x" * 192}


@pytest.fixture(scope="module")
def same_database(furnished: Shell, names: dict[str, str]) -> Sides:
    server = furnished.start("serve", "--no-auth", "--port", "0")
    return Sides(furnished, furnished, address(server), names)


@pytest.fixture
def two_databases(furnished: Shell, names: dict[str, str], tmp_path: Path) -> Iterator[Sides]:
    shells = [Shell(tmp_path / "one"), Shell(tmp_path / "other")]
    for shell in shells:
        shell.folder.mkdir()
        for file in furnished.folder.glob("windlass.db*"):
            shutil.copy(file, shell.folder)
    server = shells[1].start("serve", "--no-auth", "--port", "0")
    yield Sides(*shells, address(server), names)
    for shell in shells:
        shell.close()


@pytest.mark.database("sqlite")
@pytest.mark.timeout(300)
def test_reads_and_errors_print_the_same_bytes(same_database: Sides):
    every = [*lines(READS), *lines(ERRORS)]

    assert _differences(same_database, every, _text) == {}


@pytest.mark.database("sqlite")
@pytest.mark.timeout(300)
def test_writes_print_the_same_except_for_ids_and_times(two_databases: Sides):
    assert _differences(two_databases, lines(WRITES), _text_without_own) == {}


def _differences(
    sides: Sides, every: Sequence[str], text: Callable[[Done], str]
) -> dict[str, list[str]]:
    """Command line -> lines that it prints only locally (-) or only over HTTP (+)."""
    found = {}
    for line in every:
        local, remote = (text(done).split("\n") for done in sides.run(line))
        if local != remote:
            found[line] = list(difflib.unified_diff(local, remote, lineterm="", n=0))
    return found


def _text(done: Done) -> str:
    return f"{done.code}\n{done.out}\n{done.err}"


def _text_without_own(done: Done) -> str:
    return _OWN.sub("…", _text(done))
