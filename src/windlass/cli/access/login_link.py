"""One-time links, as they are handed to people."""

import click

from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Item

AT = click.option(
    "--at",
    metavar="URL",
    default="http://127.0.0.1:8787",
    show_default=True,
    help="Where the server is reached; only the link printed depends on it.",
)


def print_link(call: Invocation, at: str, link: Item) -> None:
    """Print the address by which somebody comes in, once."""
    call.out.data(f"{at.rstrip('/')}{link['path']}")
    call.out.say("Send this link now: it works once and is not shown again.")
