"""Messages about things that do not exist."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.shell import JOBS, Shell

TAKE_A_JOB = ["jobs show", "jobs cancel", "jobs retry", "jobs logs", "jobs history", "jobs wait",
              "jobs graph", "jobs explain", "dead show", "logs search x --job"]  # fmt: skip
TAKE_AN_EVENT = ["events show", "events replay"]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory, known_jobs: Path) -> Iterator[Shell]:
    """A shell on a database with one of everything that has a name."""
    shell = Shell(tmp_path_factory.mktemp("named"))
    shell.write("jobs.py", JOBS)
    shell.write("windlass.db", "").write_bytes(known_jobs.read_bytes())
    shell.here("enqueue", "hello", "name=Ada")
    shell.here("schedules", "create", "--name", "nightly", "--definition", "fail", "--every", "1d")
    shell.here("tenants", "create", "acme")
    shell.here("tokens", "create", "shop", "--role", "superadmin")
    shell.here("users", "create", "ada")
    shell.here("members", "invite", "bob", "-t", "acme")
    yield shell
    shell.close()


@pytest.mark.parametrize("line", [*TAKE_A_JOB, *TAKE_AN_EVENT])
@pytest.mark.parametrize(
    ("typed", "fault"),
    [("zz", "has 2"), ("abcdefgh", "has other characters"), ("0" * 33, "is too long")],
)
def test_an_invalid_id_gets_the_format_of_ids(named: Shell, line, typed, fault):
    noun = "event" if line in TAKE_AN_EVENT else "job"

    done = named.attempt(*line.split(), typed, "--yes")

    assert done.code == 2
    assert f'no {noun} matches "{typed}".' in done.err
    assert "32 digits (0-9, a-f)" in done.err
    assert "last 6" in done.err
    assert f'"{typed}" {fault}' in done.err
    assert f"windlass {noun}s list" in done.err


def test_a_suffix_that_no_id_ends_with_is_not_found(named: Shell):
    done = named.attempt("jobs", "show", "abcdef1234")

    assert done.code == 3
    assert 'no job\'s id ends in "abcdef1234"' in done.err


@pytest.mark.parametrize(
    ("line", "code", "meant"),
    [
        ("definitions show helo", 3, "hello"),
        ("enqueue helo name=Ada", 3, "hello"),
        ("schedules show nightli", 3, "nightly"),
        ("triggers disable nightli", 3, "nightly"),
        ("tenants show acne", 3, "acme"),
        ("tenants suspend acne --yes", 3, "acme"),
        ("tokens revoke shopp --yes", 3, "shop"),
        ("members role bop user -t acme", 3, "bob"),
        ("members remove bop -t acme --yes", 3, "bob"),
        ("users link adda", 3, "ada"),
        ("queues show defualt", 0, "default"),
        ("queues pause defualt --dry-run", 0, "default"),
        ("config get databse.url", 2, "database.url"),
        ("jobs lst", 2, "windlass jobs list"),
        ("explain WL33O1", 2, "WL3301"),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(named: Shell, line, code, meant):
    done = named.attempt(*line.split())

    assert done.code == code, done.err
    assert f"Did you mean `{meant}`" in done.err


def test_a_missing_or_invalid_database_names_the_fix(shell: Shell):
    shell.write("notes.txt", "no database")

    nowhere = shell.attempt("--db", "sqlite:///nowhere/w.db", "jobs", "list")
    wrong = shell.attempt("--db", "sqlite:///notes.txt", "jobs", "list")
    empty = shell.attempt("enqueue", "hello")

    assert (nowhere.code, wrong.code, empty.code) == (6, 6, 3)
    assert "Check that the folder exists" in nowhere.err
    assert "Check that the URL names the right file." in wrong.err
    assert "No definition is known yet." in empty.err


def test_a_timeout_without_a_unit_is_refused_without_a_warning(shell: Shell):
    done = shell.run("jobs", "list", "--timeout", "3")

    assert done.code == 2
    assert done.err.startswith('error[WL2007]: timeout cannot be "3".')
    assert "never awaited" not in done.err
