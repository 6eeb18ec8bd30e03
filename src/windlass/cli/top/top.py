"""`windlass top`: queues, workers and jobs, full-screen."""

from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client
    from windlass.cli.top.readings import TopData

#: Number of jobs without a terminal, where no height limits it.
_JOBS = 10


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass top",
        "windlass top --where 'state:dead_letter,retrying'",
        "windlass top --once                   # one frame, also without a terminal",
        "windlass --url https://jobs.example top --read-only",
    ],
)
@click.option("--where", default="", metavar="FILTER", help="Job filter; `/` changes it.")
@click.option("--once", is_flag=True, help="Print one frame and exit.")
@click.option("--read-only", is_flag=True, help="Change nothing: no retry, no cancel.")
@with_call
def top(call: Invocation, where: str, once: bool, read_only: bool) -> None:
    """Watch queues, workers and jobs, and act on jobs. `?` shows the keys, `q` quits."""
    if once:
        _print(call, where)
        return
    if not call.out.human or not call.out.can_ask or call.flags.no_input:
        raise CommandInvalid(
            "top needs a terminal to draw on.", hint="`windlass top --once` prints one frame."
        )
    from windlass.cli.top.screen import Screen
    from windlass.cli.top.session import TopSession

    console, place = call.out.console(), _place(call)
    start = Screen(where=where, read_only=read_only)
    call.ask(lambda api: TopSession(api, console, place, start).run(), limited=False)


def _print(call: Invocation, where: str) -> None:
    from windlass.cli.top.drawing import overview
    from windlass.cli.top.readings import TopReader
    from windlass.cli.top.screen import Screen

    async def read(api: "Client") -> "TopData":
        return await TopReader(api).read(where, limit=_JOBS)

    reading = call.ask(read)
    if call.out.format in ("json", "jsonl"):
        call.out.json(reading.body())
        return
    console = call.out.console()
    drawn = overview(reading, Screen(where=where), _place(call), console.width, None)
    console.print(drawn)


def _place(call: Invocation) -> str:
    """The tenant and the server or database on the screen."""
    from windlass.errors.wording import address

    where = call.server.url if call.server else address(call.settings.database.url)
    named = call.context.name if call.context else ""
    return " · ".join(part for part in (call.flags.tenant, named, where) if part)
