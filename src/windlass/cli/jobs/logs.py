"""`windlass logs`: log lines of all jobs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.log_lines import print_line
from windlass.cli.text.output import Column
from windlass.cli.text.styles import LEVELS

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client

_KEYS = (
    "job_id", "at", "level", "definition", "message", "fields", "attempt", "sequence", "tenant_id",
)  # fmt: skip


@click.group(
    cls=Group,
    examples=[
        "windlass logs search timed out --since -2h",
        "windlass logs tail --definition mail.send",
    ],
)
def logs() -> None:
    """Search and follow the log lines of all jobs."""


def _with_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--level", type=click.Choice(list(LEVELS)), help="This level and above."),
        click.option("--job", metavar="ID", help="Only this job's lines."),
        click.option("--definition", metavar="KEY", help="Only lines of this definition's jobs."),
    ):
        command = option(command)
    return click.argument("words", nargs=-1, metavar="[WORD]...")(command)


@logs.command(
    examples=[
        "windlass logs search timed out",
        "windlass logs search --level error --since -2h",
        "windlass logs search refused --definition mail.send --json",
        "windlass logs search refused -o id | sort -u | xargs windlass jobs retry --yes",
    ],
)
@_with_filters
@click.option(
    "--since", metavar="INSTANT", help="From this time on: -2h, 2027-03-01 or a whole instant."
)
@click.option("--until", metavar="INSTANT", help="Before this time.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, help="At most this many. [50]")
@click.option("--cursor", metavar="TEXT", help="Continue from this cursor.")
@with_call
def search(
    call: Invocation,
    words: tuple[str, ...],
    definition: str | None,
    job: str | None,
    level: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    cursor: str | None,
) -> None:
    """Find the lines that contain all these words, newest first.

    Words match whole words, in upper or lower case; without words every line matches. `-o id`
    prints the ids of the lines' jobs.
    """
    page = call.ask(
        lambda api: api.page(
            "/logs",
            words=" ".join(words) or None,
            definition=definition,
            job=job,
            level=level,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )
    )
    if call.out.format == "people":
        for line in page["items"]:
            print_line(call, line, with_job=True)
    else:
        call.out.list(page["items"], [Column(key) for key in _KEYS], body=page)
    if not page["items"]:
        call.out.say("No lines match.")
    elif page["next_cursor"]:
        call.out.hint(f"There are more: add --cursor {page['next_cursor']}")


@logs.command(
    examples=[
        "windlass logs tail",
        "windlass logs tail --level error -n 50",
        "windlass logs tail refused --definition mail.send --json | jq -r .job_id",
    ],
)
@_with_filters
@click.option(
    "-n", "--lines", type=click.IntRange(0, 100), default=10, help="Number of earlier lines. [10]"
)
@with_call
def tail(
    call: Invocation,
    words: tuple[str, ...],
    definition: str | None,
    job: str | None,
    level: str | None,
    lines: int,
) -> None:
    """Print lines as they arrive, until Ctrl-C.

    A worker stores its lines in batches, so they arrive some seconds late. With --json each line is
    a JSON object.
    """
    from windlass.cli.jobs.tail import TailedList
    from windlass.cli.jobs.tail import tail as tailed

    which = {
        "words": " ".join(words) or None,
        "definition": definition,
        "job": job,
        "level": level,
    }

    async def follow(api: "Client") -> None:
        what = TailedList("/logs", ("job_id", "sequence"), which)
        async for line in tailed(api, what, last=lines):
            print_line(call, line, with_job=True)

    call.ask(follow, limited=False)
