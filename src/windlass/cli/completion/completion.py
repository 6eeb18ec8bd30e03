"""`windlass completion`: scripts and the callback that complete commands, flags and values."""

import contextlib
import io
import os

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from windlass.cli.framework.commands import CommandWithCall
from windlass.cli.framework.flags import Flags

_SHELLS = ("bash", "zsh", "fish", "powershell")
#: It passes words one per line, and reads items whose parts are separated by tabs.
_SCRIPT = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = $commandAst.CommandElements |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
                $_.Value
            } else {
                $_.Extent.Text
            }
        }
    try {
        $env:COMP_WORDS = $words -join "`n"
        $env:COMP_WORD = $wordToComplete
        $env:%(complete_var)s = "powershell_complete"
        %(prog_name)s | ForEach-Object {
            $kind, $value, $help = $_ -split "`t", 3
            if ($kind -ne "plain") {
                [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
            } else {
                $shown = if ($value -match "\\s") { "'" + ($value -replace "'", "''") + "'" } else { $value }
                $about = if ($help) { $help } else { $value }
                [System.Management.Automation.CompletionResult]::new(
                    $shown, $value, "ParameterValue", $about)
            }
        }
    } finally {
        Remove-Item -ErrorAction SilentlyContinue `
            Env:COMP_WORDS, Env:COMP_WORD, Env:%(complete_var)s
    }
}
"""


@click.command(
    cls=CommandWithCall,
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
    """Run click's completion callback for a shell; print nothing instead of an error."""
    from windlass.cli.main import COMPLETING, root

    shell = instruction.removesuffix("_complete")
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        click.echo(_kind(shell)(root, {"obj": Flags()}, "windlass", COMPLETING).complete())
    return 0


def _kind(shell: str) -> type[ShellComplete]:
    kind = PowerShell if shell == PowerShell.name else get_completion_class(shell)
    assert kind is not None
    return kind


class PowerShell(ShellComplete):
    """Completion for PowerShell, which click does not support."""

    name = "powershell"
    source_template = _SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        words = os.environ.get("COMP_WORDS", "").split("\n")[1:]
        begun = os.environ.get(
            "COMP_WORD", ""
        )  # PowerShell unsets a variable that is set to an empty text
        if begun and words:
            words.pop()
        return words, begun

    def format_completion(self, item: CompletionItem) -> str:
        parts = (item.type, item.value, item.help or "")
        return "\t".join(" ".join(str(part).split()) if part else "" for part in parts)
