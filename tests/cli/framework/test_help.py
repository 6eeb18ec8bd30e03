"""Every command explains itself, quickly, and every flag has a variable."""

import resource
from collections.abc import Iterator

import click
import pytest

from tests.support.processes.shell import Shell
from windlass.cli.framework.commands import CommandWithCall
from windlass.cli.framework.flags import Flags, SettingOption
from windlass.cli.main import root


def _commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, group
    ctx = click.Context(group, obj=Flags())
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(_commands(root, "windlass"))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_help_says_what_it_is_for_and_has_two_examples(path):
    command = COMMANDS[path]

    text = command.get_help(click.Context(command, info_name=path, obj=Flags()))

    assert command.help
    examples = text.partition("Examples:")[2].partition("Global flags")[0].strip().splitlines()
    assert len(examples) >= 2
    assert all("windlass" in example for example in examples)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_flag_has_a_variable(path):
    for param in COMMANDS[path].params:
        if isinstance(param, click.Option) and param.name not in ("help", "version"):
            named = str(param.envvar or "").startswith("WINDLASS_")
            of_a_setting = isinstance(param, SettingOption)
            assert named or of_a_setting, f"{path} {param.opts}"


def test_the_list_of_commands_says_what_each_command_is():
    ctx = click.Context(root, obj=Flags())

    for name, lazy in root._lazy.items():
        command = root.get_command(ctx, name)
        assert command is not None
        assert command.name == name
        assert lazy.help


def test_help_costs_less_than_a_quarter_of_a_second(shell: Shell):
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        shell.python("-m", "windlass.cli", "--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # The processor's time: what a busy machine does besides is not our doing.
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    assert min(spent) < 0.25


def test_help_imports_neither_the_engine_nor_rich(shell: Shell):
    shell.write(
        "look.py",
        "import sys\n"
        "from windlass.cli.main import run\n"
        "run(['--help'])\n"
        "heavy = {'asyncio', 'rich', 'pydantic', 'structlog', 'windlass.app.windlass', 'windlass.settings'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n",
    )

    done = shell.python("look.py")

    assert done.code == 0, done.err


def test_a_command_without_its_verb_shows_the_verbs(shell: Shell):
    done = shell.run("jobs")

    assert done.code == 2
    assert "run-now" in done.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(["jbos"], "`windlass jobs`"), (["jobs", "lst"], "`windlass jobs list`")],
)
def test_an_unknown_command_gets_a_suggestion(shell: Shell, typed, meant):
    done = shell.run(*typed)

    assert done.code == 2
    assert done.err.startswith("error[WL2001]: no command named")
    assert f"Did you mean {meant}?" in done.err


def test_an_unknown_flag_gets_a_suggestion(shell: Shell):
    done = shell.run("jobs", "list", "--lmit", "3")

    assert done.code == 2
    assert done.err.startswith("error[WL2001]:")
    assert "--limit" in done.err
    assert "`windlass jobs list --help`" in done.err


def test_the_version_is_printed_for_people_and_programs(shell: Shell):
    assert shell.ok("version").out.startswith("windlass ")
    assert shell.ok("version", "--json").json["version"] in shell.ok("--version").out


def test_help_has_both_flag_names_in_any_order_of_calls():
    command = CommandWithCall("first", callback=lambda: None)

    command.get_help(click.Context(command, obj=Flags()))

    assert "-h, --help" in command.get_help(click.Context(command, obj=Flags()))
