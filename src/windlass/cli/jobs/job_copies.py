"""`windlass jobs clone|export`: copies of jobs."""

from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import build_filter, with_job_filters
from windlass.errors.wording import counted

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client

_ALL = 2**31


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs clone 8c1f42d7",
        "windlass jobs clone 8c1f42d7 --wait",
        "windlass jobs clone 8c1f42d7 --dry-run",
    ],
)
@click.argument("job")
@click.option("--dry-run", is_flag=True, help="Check it and store nothing.")
@click.option("--wait", is_flag=True, help="Wait for its end (--timeout) and print its result.")
@click.option("--follow", is_flag=True, help="Like --wait, and print its log lines as they arrive.")
@with_call
def clone(call: Invocation, job: str, dry_run: bool, wait: bool, follow: bool) -> None:
    """Enqueue a copy of JOB: same definition, payload and queue, due at once.

    The copy has no dedupe or idempotency key and waits for no other job. Its id is printed.
    """
    from windlass.cli.connect.api_client import path
    from windlass.cli.text.receipts import print_receipt

    at = path("jobs", job, "clone")
    response = call.ask(lambda api: api.post(at, dry_run=dry_run or None))
    print_receipt(call, response, wait=wait, follow=follow)


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs export > jobs.jsonl",
        "windlass jobs export --where 'state:dead_letter created:>-7d' | jq -r .last_error",
        "windlass jobs export --state completed --whole > results.jsonl",
    ],
)
@with_job_filters
@click.option("--whole", is_flag=True, help="With payload and result; takes a request per job.")
@with_call
def export(call: Invocation, /, whole: bool, **chosen: Any) -> None:
    """Export all matching jobs, newest first, one line of JSON each.

    Secrets are masked, as in every command.
    """
    from windlass.cli.connect.api_client import path

    q = build_filter(**chosen) or None

    async def write(api: "Client") -> int:
        count = 0
        async for page in api.pages("/jobs", limit=_ALL, q=q):
            for entry in page["items"]:
                job = await api.get(path("jobs", entry["id"])) if whole else entry
                call.out.json_line(job)
                count += 1
        return count

    call.out.say(f"{counted(call.ask(write), 'job')} exported.")
