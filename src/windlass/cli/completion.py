"""`windlass completion`: what a shell needs to complete commands, flags and values."""

import contextlib
import io

import click

from windlass.cli.commands import Command
from windlass.cli.flags import Flags

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=Command,
    examples=[
        'eval "$(windlass completion bash)"                  # in ~/.bashrc',
        'eval "$(windlass completion zsh)"                   # in ~/.zshrc',
        "windlass completion fish > ~/.config/fish/completions/windlass.fish",
    ],
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, flags, and values such as definitions,
    queues, tenants and recent jobs."""
    from click.shell_completion import get_completion_class

    from windlass.cli.main import COMPLETING, root

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(root, {}, "windlass", COMPLETING).source(), nl=False)


def complete(instruction: str) -> int:
    """Answer a shell that asks what could come next; it is told nothing rather than an error."""
    from click.shell_completion import shell_complete

    from windlass.cli.main import COMPLETING, root

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        shell_complete(root, {"obj": Flags()}, "windlass", COMPLETING, instruction)
    return 0
