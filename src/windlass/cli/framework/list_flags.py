"""Flags of lists: job filters and paging."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from windlass.cli.framework.invocation import Invocation
    from windlass.cli.text.output import Item

_LONGEST = 10_000
_QUEUE = click.option("--queue", metavar="NAME", help="Only jobs in this queue.")
_OPTIONS = (
    click.option(
        "--state", "states", multiple=True, metavar="S", help="States or views; a,b or repeated."
    ),
    click.option("--definition", metavar="KEY", help="Only jobs of this definition."),
    _QUEUE,
    click.option("--where", metavar="FILTER", help="Such as 'attempts:>3 created:>-2h'."),
)


def with_job_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags that select jobs: `states`, `definition`, `queue` and `where`."""
    return _with(_OPTIONS, command)


def with_job_filters_but_queue(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command whose --queue means something else."""
    return _with([option for option in _OPTIONS if option is not _QUEUE], command)


def _with(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def split_states(states: Sequence[str]) -> list[str]:
    """Split states given separately or with commas."""
    return [name.strip() for text in states for name in text.split(",") if name.strip()]


def build_filter(
    *,
    states: Sequence[str] = (),
    definition: str | None = None,
    queue: str | None = None,
    where: str | None = None,
) -> str:
    """Build one filter equal to the flags; empty if no flag was given."""
    selected = split_states(states)
    named = {"definition": definition, "queue": queue}
    # The typed text first: an error gives the position in it.
    terms = [
        (where or "").strip(),
        f"state:{','.join(selected)}" if selected else "",
        *(f"{field}:{_quote_literally(value)}" for field, value in named.items() if value),
    ]
    return " ".join(filter(None, terms))


def _quote_literally(value: str) -> str:
    """Quote a value so that a star in it matches a star: these flags match literally."""
    return '"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"'))


def with_paging(default: int = _LONGEST) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a list command `limit` and `cursor`."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--cursor", metavar="TEXT", help="Continue from this cursor.")(
            command
        )
        return click.option(
            "--limit",
            type=click.IntRange(1, _LONGEST),
            default=default,
            help=f"At most this many. [{default}]",
        )(command)

    return add


def hint_at_more(call: "Invocation", page: "Item") -> None:
    """Print how to get the next page, if there is one."""
    if page["next_cursor"]:
        call.out.hint(f"There are more: add --cursor {page['next_cursor']}")
