"""Commands in the settings file."""

import pytest

from tests.settings.test_settings import load, problems
from windlass import Windlass
from windlass.errors import DefinitionInvalid, SettingsInvalid

COMMAND = """
command_run_as = "nobody"

[commands.sync-dropbox]
run = ["zoltag", "sync-dropbox", "--provider-id={provider_id}"]
options = { path_prefix = "--path-prefix" }
exit_codes = { 64 = "permanent", 75 = "retry" }
env = ["HOME"]
env_values = { DROPBOX_TOKEN = "hunter2" }
timeout_seconds = 60
grace_seconds = 10
run_as = "dropbox"
memory_limit_mb = 512
max_attempts = 5
queue = "sync"

[commands.sync-dropbox.payload_schema]
required = ["provider_id"]
[commands.sync-dropbox.payload_schema.properties]
provider_id = { type = "string", format = "uuid" }
path_prefix = { type = "string" }

[commands."reports.nightly"]
run = ["report"]
tenant_flag = false
"""


def test_the_file_declares_commands_for_every_app(tmp_path):
    settings = load(tmp_path, toml=COMMAND)

    handlers = Windlass("sqlite:///never-opened.db", settings=settings).handlers

    assert list(handlers) == ["sync-dropbox", "reports.nightly"]
    one, other = handlers.values()
    assert (one.definition.kind, one.definition.queue) == ("command", "sync")
    assert (one.timeout.total_seconds(), one.definition.max_attempts) == (60, 5)
    assert (one.command.grace_seconds, one.command.memory_limit_mb) == (10, 512)
    assert (one.command.run_as, other.command.run_as) == ("dropbox", "nobody")
    assert one.command.argv.build({"provider_id": "7", "path_prefix": "/in"}, "acme") == [
        "zoltag", "sync-dropbox", "--provider-id=7", "--tenant-id", "acme", "--path-prefix=/in",
    ]  # fmt: skip
    assert other.command.argv.build({}, "acme") == ["report"]
    assert other.timeout.total_seconds() == 3600


def test_commands_are_shown_with_origin_and_without_secrets(tmp_path):
    shown = {one.key: one for one in load(tmp_path, toml=COMMAND).origins()}

    run = shown["commands.reports.nightly.run"]
    assert (run.shown, run.origin) == ('["report"]', str(tmp_path / "windlass.toml"))
    assert shown["commands.sync-dropbox.env_values"].shown == "•••"
    assert "hunter2" not in repr(load(tmp_path, toml=COMMAND))


def test_all_invalid_values_are_reported_at_once(tmp_path):
    toml = """
    [commands.a]
    run = "tool --all"
    grace_seconds = 301
    colour = "red"
    [commands.b]
    env_values = { TOKEN = 7 }
    [commands]
    c = 1
    """

    found = problems(tmp_path, toml=toml)

    assert list(found) == [
        "commands.a.run", "commands.a.grace_seconds", "commands.a.colour",
        "commands.b.run", "commands.b.env_values", "commands.c",
    ]  # fmt: skip
    assert "a list" in found["commands.a.run"].allowed
    assert "0 to 300" in found["commands.a.grace_seconds"].allowed
    assert found["commands.b.env_values"].value == "•••"


def test_all_invalid_commands_are_reported_at_once(tmp_path):
    toml = """
    [commands.a]
    run = ["tool", "{folder}", "-x{folder}"]
    exit_codes = { 300 = "retry" }
    [commands.b]
    run = ["sh", "-c", "rm *"]
    [commands.c]
    run = []
    """
    app = Windlass("sqlite:///never-opened.db", settings=load(tmp_path, toml=toml))

    with pytest.raises(SettingsInvalid) as caught:
        _ = app.handlers

    problems = {problem.key: problem for problem in caught.value.problems}
    assert {"commands.a.run.1", "commands.a.exit_codes.300", "commands.b.run.1"} <= set(problems)
    assert "commands.c.run" in problems
    assert problems["commands.a.run.1"].value == "'{folder}'"
    assert problems["commands.b.run.1"].origin == str(tmp_path / "windlass.toml")


def test_code_cannot_redeclare_a_command_of_the_file(tmp_path):
    app = Windlass("sqlite:///never-opened.db", settings=load(tmp_path, toml=COMMAND))

    with pytest.raises(DefinitionInvalid, match=r"windlass.toml as `report`"):
        app.command("reports.nightly", ["rm"])


def test_the_environment_cannot_declare_a_command(tmp_path):
    environ = {"WINDLASS_COMMANDS_X_RUN": "rm"}

    assert not load(tmp_path, environ=environ).commands
    assert list(problems(tmp_path, {"commands.x.run": ["rm"]})) == ["commands.x.run"]
