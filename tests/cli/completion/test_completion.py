"""A shell completes commands, flags and values, and never sees an error."""

import os
import stat
import time
from pathlib import Path

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell
from tests.support.wait import blocking_until
from windlass.cli.completion.live_values import completion_items


def _offered(shell: Shell, line: str, **env: str) -> list[str]:
    """The completions that bash gets for a line, which ends with the word to complete."""
    words = line.split(" ")
    done = shell.run(
        _WINDLASS_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
        **env,
    )
    assert (done.code, done.err) == (0, "")
    return [text.partition(",")[2] for text in done.lines if text]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_gets_a_script(shell: Shell, shell_name):
    script = shell.ok("completion", shell_name).out

    assert "_WINDLASS_COMPLETE" in script
    assert shell.run("completion", "tcsh").code == 2


def test_commands_and_flags_are_offered(shell: Shell):
    assert "jobs" in _offered(shell, "windlass j")
    assert {"retry", "run-now"} <= set(_offered(shell, "windlass jobs r"))
    assert "--reason" in _offered(shell, "windlass jobs cancel --re")
    assert _offered(shell, "windlass jobs list --state completed,de") == ["completed,dead_letter"]


def test_values_from_the_database_are_offered(ready: Shell):
    ready.here("tenants", "create", "acme")
    id = ready.here("enqueue", "hello", "name=Ada", "--queue", "mail").out.strip()

    assert _offered(ready, "windlass enqueue he") == ["hello"]
    assert _offered(ready, "windlass jobs list --definition co") == ["count"]
    assert id[-8:] in _offered(ready, "windlass jobs show ")
    assert id[-8:] in _offered(ready, f"windlass jobs cancel {id[-8:-4]}")
    assert _offered(ready, "windlass jobs list -t ac") == ["acme"]
    assert _offered(ready, "windlass tenants show ac") == ["acme"]


def test_a_name_that_a_shell_would_run_is_not_offered():
    run = [
        "x;y",
        "x$(y)",
        "x`y`",
        "x|y",
        "x&y",
        "x>y",
        "x*",
        "x'y",
        'x"y',
        "x\\y",
        "x!y",
        "~x",
        "#x",
    ]
    harmless = ["mail", "a.b-1", "worker:1", "acme/eu", "東京", "two words"]

    offered = completion_items([(name, None) for name in [*run, "--yes", "a\nb", *harmless]])

    assert [item.value for item in offered] == harmless


def test_a_values_description_is_one_line():
    [item] = completion_items([("hello", "a\nplain\nforged\x1b[2J")])

    assert item.help == r"a\nplain\nforged\x1b[2J"


def test_without_a_response_nothing_is_offered(shell: Shell):
    assert _offered(shell, "windlass jobs show ") == []
    assert _offered(shell, "windlass enqueue he", WINDLASS_URL="http://127.0.0.1:9") == []
    assert _offered(shell, "windlass nonsense x") == []
    assert not (shell.folder / "windlass.db").exists()


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("line", ["windlass jobs show ", "windlass enqueue he", "windlass -t a"])
@pytest.mark.parametrize(
    "settings", ["", '[commands.sweep]\nargv = ["true"]\n'], ids=["", "command"]
)
def test_completing_without_a_database_creates_no_database(shell: Shell, line: str, settings: str):
    shell.write("windlass.toml", settings)
    shell.write("my%20jobs.db", "")  # its URL would have %2520

    assert _offered(shell, line) == []
    assert _offered(shell, line, WINDLASS_DATABASE_URL="sqlite:///my%20jobs.db") == []
    assert [file.name for file in shell.folder.glob("*.db*")] == ["my%20jobs.db"]


def _in_powershell(shell: Shell, words: list[str], begun: str) -> list[list[str]]:
    """The lines that the PowerShell script gets. PowerShell itself does not run here: its script
    passes a line as words, and gets type, value and help of each completion."""
    env = {"COMP_WORD": begun} if begun else {}
    done = shell.run(_WINDLASS_COMPLETE="powershell_complete", COMP_WORDS="\n".join(words), **env)
    assert (done.code, done.err) == (0, "")
    return [line.split("\t") for line in done.lines if line]


def test_powershell_gets_its_own_format(ready: Shell):
    commands = _in_powershell(ready, ["windlass", "j"], "j")
    verbs = _in_powershell(ready, ["windlass", "jobs"], "")
    values = _in_powershell(ready, ["windlass", "enqueue", "he"], "he")
    files = _in_powershell(ready, ["windlass", "--token-file", "a b"], "a b")

    assert [command[:2] for command in commands] == [["plain", "jobs"]]
    assert commands[0][2].startswith("Find jobs")
    assert {"retry", "run-now"} <= {value for _, value, _ in verbs}
    assert [value for _, value, _ in values] == ["hello"]
    assert files[0][0] == "file"


def test_the_script_for_powershell_sets_what_is_read(shell: Shell):
    script = shell.ok("completion", "powershell").out

    for word in ("COMP_WORDS", "COMP_WORD", '_WINDLASS_COMPLETE = "powershell_complete"'):
        assert f"$env:{word}" in script
    assert "-CommandName windlass" in script
    assert '-match "\\s"' in script
    assert script.count("{") == script.count("}")


def _kept(shell: Shell) -> list[Path]:
    return sorted((shell.folder / "cache" / "windlass" / "completion").glob("*.json"))


def _age(file: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file, (then, then))


def test_the_cache_is_private_and_holds_only_names(ready: Shell):
    ready.here("enqueue", "hello", "name=Secret-Payload")

    _offered(ready, "windlass jobs show ")

    (file,) = _kept(ready)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "Secret-Payload" not in file.read_text("utf-8")


def test_cached_values_are_offered_at_once_and_refreshed_in_the_background(ready: Shell):
    assert _offered(ready, "windlass enqueue h") == ["hello"]
    (file,) = _kept(ready)
    file.write_text('[["hello", ""], ["hullo", "gone since"]]', "utf-8")
    _age(file, 60)

    old = _offered(ready, "windlass enqueue h")
    for _ in range(1200):
        if "hullo" not in file.read_text("utf-8"):
            break
        time.sleep(0.05)

    assert old == ["hello", "hullo"]
    assert _offered(ready, "windlass enqueue h") == ["hello"]


def test_a_prefix_that_is_not_cached_is_requested(ready: Shell):
    _offered(ready, "windlass tenants show d")
    ready.here("tenants", "create", "acme")
    (file,) = _kept(ready)
    _age(file, 60)

    assert _offered(ready, "windlass tenants show ac") == ["acme"]


def test_each_database_and_tenant_has_its_own_cache(ready: Shell):
    _offered(ready, "windlass enqueue he")
    _offered(ready, "windlass enqueue he", WINDLASS_DATABASE_URL="sqlite:///windlass.db")
    _offered(ready, "windlass -t acme enqueue he")

    assert len(_kept(ready)) == 3


def test_an_unreadable_cache_is_refreshed(ready: Shell):
    _offered(ready, "windlass enqueue he")
    (file,) = _kept(ready)
    file.write_text("[[[", "utf-8")

    assert _offered(ready, "windlass enqueue he") == ["hello"]


def test_cached_values_need_neither_server_nor_engine(ready: Shell):
    _offered(ready, "windlass jobs show ")
    ready.here("enqueue", "hello", "name=Ada")
    ready.write(
        "look.py",
        "import os, sys\n"
        "os.environ.update(COMP_WORDS='windlass jobs show ', COMP_CWORD='3')\n"
        "from windlass.cli.completion.completion import complete\n"
        "complete('bash_complete')\n"
        "heavy = {'asyncio', 'fastapi', 'pydantic', 'sqlalchemy', 'httpx2', 'windlass.settings'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n",
    )

    done = ready.python("look.py")

    assert done.code == 0, done.err


@pytest.mark.database("postgresql")
def test_values_of_a_server_database_are_cached_too(shell_on, new_database):
    shell = shell_on(new_database("postgresql").url)
    shell.ok("db", "migrate")
    shell.ok("worker", "jobs.py", "--drain")

    first = _offered(shell, "windlass enqueue he")

    assert first == _offered(shell, "windlass enqueue he") == ["hello"]
    assert len(_kept(shell)) == 1
    assert "postgresql" not in _kept(shell)[0].read_text("utf-8")


def test_values_of_a_server_are_cached_too(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    url = address(server)

    # On a busy machine its first responses may be too late for a shell.
    first = blocking_until(lambda: _offered(ready, "windlass enqueue he", WINDLASS_URL=url))
    server.stop()
    server.ends()

    assert first == _offered(ready, "windlass enqueue he", WINDLASS_URL=url) == ["hello"]
