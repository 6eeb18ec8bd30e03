"""Flags of lists that come in pages, and the word that there is more."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from windlass.cli.framework.invocation import Invocation
    from windlass.cli.text.output import Item

_LONGEST = 10_000


def with_paging(default: int = _LONGEST) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a list be told how much of it: `limit` and `cursor`."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--cursor", metavar="TEXT", help="Continue from this cursor.")(
            command
        )
        return click.option(
            "--limit",
            type=click.IntRange(1, _LONGEST),
            default=default,
            help=f"How many at most. [{default}]",
        )(command)

    return add


def hint_at_more(call: "Invocation", page: "Item") -> None:
    """Tell a person how to go on, if there is more."""
    if page["next_cursor"]:
        call.out.hint(f"There are more: add --cursor {page['next_cursor']}")
