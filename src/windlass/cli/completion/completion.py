"""`windlass completion`: what a shell needs to complete commands, flags and values."""

import contextlib
import io
from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import Command
from windlass.cli.framework.flags import Flags

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

_SHELLS = ("bash", "zsh", "fish", "powershell")


@click.command(
    cls=Command,
    examples=[
        'eval "$(windlass completion bash)"                  # in ~/.bashrc',
        'eval "$(windlass completion zsh)"                   # in ~/.zshrc',
        "windlass completion fish > ~/.config/fish/completions/windlass.fish",
        "windlass completion powershell | Out-String | Invoke-Expression   # in $PROFILE",
    ],
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, flags, and values such as definitions,
    queues, tenants and recent jobs."""
    from windlass.cli.main import COMPLETING, root

    click.echo(_kind(shell)(root, {}, "windlass", COMPLETING).source(), nl=False)


def complete(instruction: str) -> int:
    """Answer a shell that asks what could come next; it is told nothing rather than an error."""
    from windlass.cli.main import COMPLETING, root

    shell = instruction.removesuffix("_complete")
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        click.echo(_kind(shell)(root, {"obj": Flags()}, "windlass", COMPLETING).complete())
    return 0


def _kind(shell: str) -> "type[ShellComplete]":
    from click.shell_completion import get_completion_class

    from windlass.cli.completion.powershell import PowerShell

    kind = PowerShell if shell == PowerShell.name else get_completion_class(shell)
    assert kind is not None
    return kind
