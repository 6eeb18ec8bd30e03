"""Prints one-time sign-in links."""

import click

from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Item

AT = click.option(
    "--at",
    metavar="URL",
    default="http://127.0.0.1:8787",
    show_default=True,
    help="Address of the server in the printed link.",
)


def print_link(call: Invocation, at: str, link: Item) -> None:
    """Print a one-time sign-in link."""
    call.out.data(f"{at.rstrip('/')}{link['path']}")
    call.out.say("Send this link now: it works once and is not shown again.")
