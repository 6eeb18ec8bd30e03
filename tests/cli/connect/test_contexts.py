"""Contexts: named servers and databases, and the precedence of their values."""

import os
import stat
import tomllib
from pathlib import Path

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell


def add(shell: Shell, name: str, *flags: str) -> None:
    shell.here("config", "contexts", "add", name, *flags)


def database(shell: Shell, *args: str, **env: str) -> tuple[str, str]:
    """The database in use, and the origin of that setting."""
    items = shell.ok("config", "show", "--json", *args, **env).json
    (one,) = [item for item in items if item["key"] == "database.url"]
    return os.path.basename(one["value"]), one["origin"]


def test_a_context_is_added_used_and_removed(shell: Shell):
    add(shell, "prod", "--url", "https://jobs.example.com", "-t", "acme", "--token-file", "secret")
    add(shell, "local", "--db", "sqlite:///own.db")
    shell.here("config", "use", "local")

    listed = shell.here("config", "contexts").lines
    people = shell.at_terminal("config", "contexts").out
    shell.here("config", "contexts", "remove", "local")
    left = shell.here("config", "contexts", "--json").json

    assert listed[0].split("\t") == ["name", "current", "url", "db", "tenant", "token_file"]
    assert listed[1].split("\t")[:3] == ["prod", "false", "https://jobs.example.com"]
    assert "● local" in people
    assert [(one["name"], one["current"], one["tenant"]) for one in left] == [
        ("prod", False, "acme")
    ]
    assert left[0]["token_file"] == str(shell.folder / "secret")


def test_the_file_is_the_users_own_and_holds_no_token(shell: Shell):
    shell.write("secret", "wlt_very-secret")
    add(shell, "prod", "--url", "https://jobs.example.com", "--token-file", "secret")

    file = shell.folder / "config" / "windlass" / "contexts.toml"
    text = file.read_text("utf-8")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "very-secret" not in text
    assert set(tomllib.loads(text)["contexts"]["prod"]) == {"url", "token_file"}


def test_a_flag_wins_over_the_environment_that_over_the_context_that_over_the_file(shell: Shell):
    shell.write("windlass.toml", '[database]\nurl = "sqlite:///of-file.db"\n')
    add(shell, "local", "--db", "sqlite:///of-context.db")
    add(shell, "other", "--db", "sqlite:///of-other.db")
    of_env = {"WINDLASS_DATABASE_URL": "sqlite:///of-env.db"}

    before = database(shell)
    shell.here("config", "use", "local")
    found = [
        database(shell),
        database(shell, WINDLASS_CONTEXT="other"),
        database(shell, **of_env),
        database(shell, "--context", "other", **of_env),
        database(shell, "--context", "other", "--db", "sqlite:///of-flag.db", **of_env),
    ]
    shell.here("config", "use", "--none")

    assert before[0] == "of-file.db"
    assert found == [
        ("of-context.db", "context local"),
        ("of-other.db", "context other"),
        ("of-env.db", "environment, WINDLASS_DATABASE_URL"),
        ("of-other.db", "context other"),
        ("of-flag.db", "argument"),
    ]
    assert database(shell)[0] == "of-file.db"


def test_settings_from_the_context_show_their_origin(shell: Shell):
    add(shell, "prod", "--url", "https://jobs.example.com", "-t", "acme")

    items = shell.here("config", "show", "--origin", "--json", "--context", "prod").json
    of_env = shell.ok("config", "show", "--context", "prod", "--json", WINDLASS_TENANT="x").json
    typed = shell.here("config", "show", "--context", "prod", "-t", "x", "--json").json

    origins = {item["key"]: (item["value"], item["origin"]) for item in items}
    assert origins["url"] == ("https://jobs.example.com", "context prod")
    assert origins["tenant"] == ("acme", "context prod")
    assert origins["context"] == ("prod", "argument")
    assert next(one["value"] for one in of_env if one["key"] == "tenant") == "acme"
    assert next(one["origin"] for one in typed if one["key"] == "tenant") == "argument"


@pytest.mark.parametrize(
    "args",
    [
        ["--context", "prd", "jobs", "list"],
        ["config", "use", "prd"],
        ["config", "contexts", "remove", "prd"],
    ],
)
def test_an_unknown_context_gets_a_suggestion(shell: Shell, args):
    add(shell, "prod", "--url", "https://jobs.example.com")

    done = shell.run(*args)

    assert done.code == 2
    assert done.err.startswith('error[WL2001]: no context named "prd".')
    assert "Did you mean `prod`?" in done.err


def test_a_current_context_that_no_longer_exists_can_be_left(shell: Shell):
    shell.write("config/windlass/contexts.toml", 'current = "gone"\n')

    refused = shell.run("jobs", "list")
    shell.ok("config", "use", "--none")

    assert refused.code == 2
    assert "no context named" in refused.err
    assert shell.run("config", "show").code == 0


@pytest.mark.parametrize(
    "text",
    ["current = 7 7", "contexts = 3", "[contexts.x]\nurl = 4\n", "[contexts.x]\ntoken = 'a'"],
)
def test_an_unreadable_file_is_an_error(shell: Shell, text):
    shell.write("config/windlass/contexts.toml", text)

    done = shell.run("config", "contexts")

    assert done.code == 2
    assert "cannot be read" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "args",
    [
        ["add", "x"],
        ["add", "x", "--url", "http://a", "--db", "sqlite:///b"],
        ["add", "a b", "--url", "http://a"],
    ],
)
def test_an_invalid_name_or_target_is_refused(shell: Shell, args):
    assert shell.run("config", "contexts", *args).code == 2
    assert not (shell.folder / "config").exists()


def test_a_dry_run_saves_nothing(shell: Shell):
    add(shell, "prod", "--url", "https://jobs.example.com")
    file = shell.folder / "config" / "windlass" / "contexts.toml"
    before = file.read_text("utf-8")

    add(shell, "other", "--url", "https://other.example.com", "--dry-run")
    shell.here("config", "use", "prod", "--dry-run")
    shell.here("config", "contexts", "remove", "prod", "--dry-run")

    assert file.read_text("utf-8") == before


def test_a_context_names_a_server_and_errors_show_the_context(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    add(ready, "near", "--url", address(server))
    ready.here("config", "use", "near")

    ready.here("enqueue", "hello", "name=Ada")
    ready.here("enqueue", "hello", "name=Grace")
    jobs = ready.here("jobs", "list", "--json").json["items"]
    me = ready.at_terminal("whoami", "--color", "never").out
    asked = ready.at_terminal("jobs", "cancel", "--where", "state:queued", types="n\n").out

    assert [job["definition"] for job in jobs] == ["hello", "hello"]
    assert "Context  near" in me
    assert "In the context near: " in asked


def test_a_contexts_tenant_does_not_apply_to_another_server_or_database(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")
    add(ready, "acme", "--db", "sqlite:///windlass.db", "-t", "acme")
    ready.here("config", "use", "acme")
    file = Path(ready.folder / "windlass.db")

    of_context = ready.here("jobs", "list", "-o", "id").lines
    elsewhere = ready.here("jobs", "list", "-o", "id", "--db", f"sqlite:///{file}").lines
    everybody = ready.here("jobs", "list", "-o", "id", "--all-tenants").lines

    assert [len(of_context), len(elsewhere), len(everybody)] == [0, 1, 1]


def test_commands_that_run_jobs_use_only_a_context_given_by_name(shell: Shell):
    add(shell, "prod", "--db", "sqlite:///prod.db")
    shell.here("config", "use", "prod")

    shell.ok("worker", "jobs.py", "--drain")
    own = (shell.folder / "windlass.db").exists(), (shell.folder / "prod.db").exists()
    shell.ok("worker", "jobs.py", "--drain", "--context", "prod")

    assert own == (True, False)
    assert (shell.folder / "prod.db").exists()


def test_all_tenants_and_a_tenant_exclude_each_other(ready: Shell):
    both = ready.run("jobs", "list", "--all-tenants", "-t", "acme")

    assert both.code == 2
    assert "--all-tenants and --tenant exclude each other" in both.err


def test_all_tenants_wins_over_a_tenant_of_the_environment_and_a_flag_over_it(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    everybody = ready.ok("jobs", "list", "-o", "id", "--all-tenants", WINDLASS_TENANT="acme")
    one = ready.ok("jobs", "list", "-o", "id", "-t", "acme", WINDLASS_ALL_TENANTS="1")

    assert (len(everybody.lines), len(one.lines)) == (1, 0)
