"""`windlass explain CODE`, and the commands that errors tell people to run."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from tests.cli.framework.test_help import COMMANDS
from tests.errors.test_errors import EXAMPLES
from tests.support.processes.shell import Shell
from windlass.cli.framework.error_report import error_lines
from windlass.errors import by_code
from windlass.errors.remedies import remedies


def test_every_code_has_causes_and_fixes_in_whole_sentences():
    assert set(remedies()) == set(by_code())
    for code, remedy in remedies().items():
        assert remedy.causes, code
        assert remedy.cures, code
        for sentence in (*remedy.causes, *remedy.cures):
            assert re.fullmatch(r"[A-Z`].*[.`]", sentence), (code, sentence)


@pytest.mark.parametrize("code", ["WL3301", "wl3301", "3301"])
def test_an_error_is_explained_with_its_causes_and_fixes(shell: Shell, code):
    told = shell.attempt("explain", code)
    body = shell.attempt("explain", code, "--json").json

    assert "The job was pruned after its retention, or deleted." in told.out
    assert "Search for it: `windlass jobs list`." in told.out
    assert body["causes"] == list(remedies()["WL3301"].causes)
    assert body["cures"] == list(remedies()["WL3301"].cures)
    assert body["exit_code"] == 3


@pytest.mark.parametrize(
    "line",
    sorted(
        {
            line
            for text in (
                *(cure for remedy in remedies().values() for cure in remedy.cures),
                *(error.hint for error in EXAMPLES),
            )
            for line in re.findall(r"`(windlass [^`]*)`", text)
        }
    ),
)
def test_every_command_that_an_error_names_exists(line):
    assert not list(_unknown(shlex.split(line)))


def _unknown(words: list[str]) -> Iterator[str]:
    """The parts of a command line that are no command or flag."""
    path = words[0]
    for word in words[1:]:
        if f"{path} {word}" in COMMANDS:
            path = f"{path} {word}"
        elif isinstance(COMMANDS[path], click.Group) and not word.startswith("-"):
            yield word
    flags = {name for param in COMMANDS[path].params for name in (*param.opts, "--help")}
    yield from (word for word in words if word.startswith("-") and word not in flags)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_a_hint_in_a_shell_names_no_path_of_the_api_and_no_python(error):
    text = error_lines(error)[-1]

    assert not re.search(r"/api/|openapi|\bwl\.|\b(GET|POST|PATCH|DELETE) /|await ", text)


def test_a_request_that_cannot_be_read_names_the_field_in_the_shell(ready: Shell):
    done = ready.attempt("jobs", "show", "0" * 65)

    assert done.code == 2
    assert "at most 64 characters" in done.err
    assert "--help" in done.err
