"""`windlass explain CODE`: what an error means, without a network or a database."""

import inspect

import click

from windlass.cli.call import Call
from windlass.cli.commands import Command, with_call
from windlass.cli.exits import code_of
from windlass.errors import CommandInvalid, by_code
from windlass.errors.wording import nearest, quoted


@click.command(cls=Command, examples=["windlass explain WL1203", "windlass explain 2107 --json"])
@click.argument("code")
@with_call
def explain(call: Call, code: str) -> None:
    """Tell what the error CODE means and with which exit code it ends."""
    known = by_code()
    wanted = code.upper() if code.upper().startswith("WL") else f"WL{code}"
    kind = known.get(wanted)
    if kind is None:
        near = nearest(wanted, known)
        raise CommandInvalid(
            f"no error has the code {quoted(code)}.",
            hint=(f"Did you mean `{near}`? " if near else "") + "Codes look like WL1203.",
        )
    meaning = inspect.getdoc(kind) or ""
    exit_code = int(code_of(kind))
    body = {"code": kind.code, "name": kind.__name__, "meaning": meaning, "exit_code": exit_code}

    def show() -> None:
        call.out.data(f"{call.out.style(kind.code, bold=True)} {kind.__name__}")
        call.out.data("")
        call.out.block(meaning)
        call.out.data("")
        call.out.data(f"Commands that end in it exit with {exit_code}.")

    call.out.one(body, show, key="code")
