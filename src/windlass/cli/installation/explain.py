"""`windlass explain CODE`: an error's meaning, causes and fixes, without a database."""

import inspect

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.exit_codes import code_of
from windlass.cli.framework.invocation import Invocation
from windlass.errors import CommandInvalid, by_code
from windlass.errors.remedies import remedies
from windlass.errors.wording import nearest, quoted


@click.command(
    cls=CommandWithCall, examples=["windlass explain WL1203", "windlass explain 2107 --json"]
)
@click.argument("code")
@with_call
def explain(call: Invocation, code: str) -> None:
    """Show what the error CODE means, its causes, what to do, and the exit code of commands."""
    known = by_code()
    full_code = code.upper() if code.upper().startswith("WL") else f"WL{code}"
    kind = known.get(full_code)
    if kind is None:
        near = nearest(full_code, known)
        raise CommandInvalid(
            f"no error has the code {quoted(code)}.",
            hint=(f"Did you mean `{near}`? " if near else "") + "Codes look like WL1203.",
        )
    meaning = inspect.getdoc(kind) or ""
    exit_code, remedy = int(code_of(kind)), remedies()[kind.code]
    body = {
        "code": kind.code,
        "name": kind.__name__,
        "meaning": meaning,
        "causes": list(remedy.causes),
        "cures": list(remedy.cures),
        "exit_code": exit_code,
    }

    def show() -> None:
        call.out.data(f"{call.out.style(kind.code, bold=True)} {kind.__name__}")
        call.out.data("")
        call.out.block(meaning)
        for title, sentences in (("Causes", remedy.causes), ("What to do", remedy.cures)):
            call.out.data("")
            call.out.data(call.out.style(title, bold=True))
            for sentence in sentences:
                call.out.data(f"  - {sentence}")
        call.out.data("")
        call.out.data(f"Exit code of commands: {exit_code}")

    call.out.one(body, show, key="code")
