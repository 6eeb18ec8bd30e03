"""Which jobs a command means: flags that are the same wherever jobs are chosen, and their filter."""

from collections.abc import Callable, Sequence
from typing import Any

import click

_QUEUE = click.option("--queue", metavar="NAME", help="Only jobs in this queue.")
_OPTIONS = (
    click.option(
        "--state", "states", multiple=True, metavar="S", help="States or views; a,b or repeated."
    ),
    click.option("--definition", metavar="KEY", help="Only jobs of this definition."),
    _QUEUE,
    click.option("--where", metavar="FILTER", help="Such as 'attempts:>3 created:>-2h'."),
)


def choosing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command be told which jobs: `states`, `definition`, `queue` and `where`."""
    return _with(_OPTIONS, command)


def with_job_filters_but_queue(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command whose --queue means something else."""
    return _with([option for option in _OPTIONS if option is not _QUEUE], command)


def _with(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def split_states(states: Sequence[str]) -> list[str]:
    """Each state that was named, whether apart or with commas between them."""
    return [name.strip() for text in states for name in text.split(",") if name.strip()]


def build_filter(
    *,
    states: Sequence[str] = (),
    definition: str | None = None,
    queue: str | None = None,
    where: str | None = None,
) -> str:
    """One filter that says the same as the flags; empty if none was given."""
    wanted = split_states(states)
    named = {"definition": definition, "queue": queue}
    # The person's own text first: an error tells the place in it.
    terms = [
        (where or "").strip(),
        f"state:{','.join(wanted)}" if wanted else "",
        *(f"{field}:{_quote_literally(value)}" for field, value in named.items() if value),
    ]
    return " ".join(filter(None, terms))


def _quote_literally(value: str) -> str:
    """A value in quotes, in which a star is a star: `jobs list` takes these flags at their word."""
    return '"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"'))
