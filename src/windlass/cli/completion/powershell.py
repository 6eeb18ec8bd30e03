"""Completion for PowerShell, which click knows nothing of."""

import os

from click.shell_completion import CompletionItem, ShellComplete

#: Words go over one to a line, answers come back with tabs between their parts.
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


class PowerShell(ShellComplete):
    name = "powershell"
    source_template = _SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        words = os.environ.get("COMP_WORDS", "").split("\n")[1:]
        begun = os.environ.get("COMP_WORD", "")  # PowerShell unsets a variable it makes empty
        if begun and words:
            words.pop()
        return words, begun

    def format_completion(self, item: CompletionItem) -> str:
        parts = (item.type, item.value, item.help or "")
        return "\t".join(" ".join(str(part).split()) if part else "" for part in parts)
