"""`windlass version`."""

import platform
from importlib.metadata import version as installed

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation


@click.command(cls=CommandWithCall, examples=["windlass version", "windlass version --json"])
@with_call
def version(call: Invocation) -> None:
    """Show the versions of Windlass and of Python."""
    known = {"version": installed("windlass"), "python": platform.python_version()}
    text = f"windlass {known['version']}, Python {known['python']}"
    if call.out.format in ("people", "tsv"):
        call.out.data(text)
    else:
        call.out.one(known, lambda: None, key="version")
