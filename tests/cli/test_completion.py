"""A shell completes commands, flags and values, and never sees an error."""

import pytest

from tests.cli.shell import Shell


def _offered(shell: Shell, line: str, **env: str) -> list[str]:
    """What bash is offered behind a line, which ends with the word to complete."""
    words = line.split(" ")
    done = shell.run(
        _WINDLASS_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
        **env,
    )
    assert (done.code, done.err) == (0, "")
    return [text.partition(",")[2] for text in done.lines if text]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: Shell, shell_name):
    script = shell.ok("completion", shell_name).out

    assert "_WINDLASS_COMPLETE" in script
    assert shell.run("completion", "tcsh").code == 2


def test_commands_and_flags_are_offered(shell: Shell):
    assert "jobs" in _offered(shell, "windlass j")
    assert {"retry", "run-now"} <= set(_offered(shell, "windlass jobs r"))
    assert "--reason" in _offered(shell, "windlass jobs cancel --re")
    assert _offered(shell, "windlass jobs list --state completed,de") == ["completed,dead_letter"]


def test_values_are_offered_that_the_database_knows(ready: Shell):
    ready.here("tenants", "create", "acme")
    id = ready.here("enqueue", "hello", "name=Ada", "--queue", "mail").out.strip()

    assert _offered(ready, "windlass enqueue he") == ["hello"]
    assert _offered(ready, "windlass jobs list --definition co") == ["count"]
    assert id[-8:] in _offered(ready, "windlass jobs show ")
    assert id[-8:] in _offered(ready, f"windlass jobs cancel {id[-8:-4]}")
    assert _offered(ready, "windlass jobs list -t ac") == ["acme"]
    assert _offered(ready, "windlass tenants show ac") == ["acme"]


def test_where_nobody_answers_nothing_is_offered(shell: Shell):
    assert _offered(shell, "windlass jobs show ") == []
    assert _offered(shell, "windlass enqueue he", WINDLASS_URL="http://127.0.0.1:9") == []
    assert _offered(shell, "windlass nonsense x") == []
    assert not (shell.folder / "windlass.db").exists()
