"""Error messages at a terminal: what happened, why, what to do, and the code."""

import sys
import traceback
from collections.abc import Mapping

import click

from windlass import errors
from windlass.cli.framework.exit_codes import Exit, code_of
from windlass.cli.framework.flags import Flags
from windlass.cli.text.output import Output
from windlass.cli.text.printing import paint, write_lines
from windlass.errors import CommandInvalid, SettingsInvalid, WindlassError
from windlass.errors.wording import sentence, shorten

_OTHER_VERSION = "The server may run another version: compare `windlass version` on both machines."
#: Hints for a shell, in place of hints about HTTP.
_HINTS: Mapping[type[WindlassError], str] = {
    errors.RequestInvalid: "Add `--help` to the command: it shows what its flags take.",
    errors.PathUnknown: _OTHER_VERSION,
    errors.MethodRefused: _OTHER_VERSION,
    errors.KeyReused: "Give another --idempotency-key, or repeat the command as it was.",
    errors.KeyInUse: "Repeat the command in a second.",
}


def report(error: BaseException, flags: Flags) -> int:
    """Print an error and return its exit code."""
    if flags.debug:
        write_lines("".join(traceback.format_exception(error)).rstrip().split("\n"), sys.stderr)
    known = as_windlass_error(error)
    write_lines(error_lines(known, colored=Output(flags).colored(sys.stderr)), sys.stderr)
    return code_of(type(known))


def error_lines(error: WindlassError, *, colored: bool = False) -> list[str]:
    """Format an error as lines."""
    head = f"error[{error.code}]:"
    lines = [f"{paint(head, 'red', bold=True) if colored else head} {error.message}"]
    # Several settings may be wrong at once: a line for each.
    reasons = map(str, error.problems) if isinstance(error, SettingsInvalid) else [error.reason]
    lines += [f"  {line}" for reason in reasons if reason for line in reason.split("\n")]
    hint = _HINTS.get(type(error), error.hint)
    return [*lines, f"  → {hint}"] if hint else lines


def as_windlass_error(error: BaseException) -> WindlassError:
    """Convert click's errors, system errors and unexpected ones into a WindlassError."""
    match error:
        case WindlassError():
            return error
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "windlass"
            message = error.format_message()
            return CommandInvalid(
                sentence(message)[:1].lower() + sentence(message)[1:],
                hint=f"`{command} --help` shows how it is used.",
            )
        case click.ClickException():
            return CommandInvalid(sentence(error.format_message()))
        case _:
            return WindlassError(
                f"something unexpected happened: {type(error).__name__}.",
                reason=sentence(shorten(str(error)) or "It says no more"),
                hint="Add --debug for the traceback; if it is not your own code's, report it.",
            )


__all__ = ["Exit", "error_lines", "report"]
