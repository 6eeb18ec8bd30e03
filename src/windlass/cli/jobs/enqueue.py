"""`windlass enqueue`: enqueue a job from the shell."""

from typing import Any

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.errors import DefinitionNotFound

Options = dict[str, Any]


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass enqueue hello name=Ada",
        "windlass enqueue hello name=Ada --in 10m --priority high",
        "windlass enqueue resize_all --payload '{\"ids\": [1, 2, 3]}' --wait",
        "windlass enqueue report --follow               # its log until its end, then its result",
        "generate-report | windlass enqueue report.import -",
    ],
)
@click.argument("definition")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]... | -")
@click.option("--payload", metavar="JSON", help="The payload as a JSON object.")
@click.option(
    "--file", metavar="FILE", help="A file with the payload as JSON; - is standard input."
)
@click.option(
    "--at", metavar="INSTANT", help="Not before this time, such as 2030-01-31T09:00+01:00."
)
@click.option("--in", "delay", metavar="DURATION", help="Delay from now, such as 10m.")
@click.option("--queue", metavar="NAME", help="Another queue than the definition's.")
@click.option(
    "--priority", metavar="P", help="critical, high, normal, low, or a number: lower first."
)
@click.option("--dedupe-key", metavar="KEY", help="At most one open job with this key.")
@click.option("--idempotency-key", metavar="KEY", help="At most one job with this key, ever.")
@click.option("--after", multiple=True, metavar="ID", help="Wait for this job; may be repeated.")
@click.option(
    "--created-by", metavar="NAME", help="On whose behalf: user:ID of a member, or any name."
)
@click.option("--hold", is_flag=True, help="Hold the job until `jobs run-now`.")
@click.option("--dry-run", is_flag=True, help="Check it and store nothing.")
@click.option("--wait", is_flag=True, help="Wait for its end (--timeout) and print its result.")
@click.option("--follow", is_flag=True, help="Like --wait, and print its log lines as they arrive.")
@with_call
def enqueue(
    call: Invocation,
    /,
    definition: str,
    values: tuple[str, ...],
    payload: str | None,
    file: str | None,
    dry_run: bool,
    wait: bool,
    follow: bool,
    **given: Any,
) -> None:
    """Enqueue a job of DEFINITION.

    A value that is valid JSON is read as JSON, any other as text; a text field keeps it as it is.
    The job's id is printed. If an equal job exists already, its id is printed; this is not an
    error.
    """
    from windlass.cli.connect.api_client import Client, path
    from windlass.cli.text.parse_payload import full_payload, split_pairs, typed
    from windlass.cli.text.receipts import print_receipt
    from windlass.core.payloads.json_text import dump_json

    whole = full_payload(values, payload, file)
    pairs = split_pairs(values) if whole is None else {}
    options = delivery_options(**given)

    async def store(api: Client) -> dict[str, Any]:
        at = path("definitions", definition)
        try:
            known = await api.get(at)
        except DefinitionNotFound:
            if api.learn is None or not call.settings.modules:
                raise
            await api.learn(call.settings.modules)
            known = await api.get(at)
        data = typed(pairs, known["payload_schema"]) if whole is None else whole
        dump_json(data)  # a value that cannot be stored cannot be sent either
        after = [(await api.get(path("jobs", id)))["id"] for id in options.get("after", ())]
        body = {**options, "after": after, "definition": definition, "payload": data}
        return await api.post("/jobs", body, dry_run=dry_run or None)

    print_receipt(call, call.ask(store), wait=wait, follow=follow)


def delivery_options(
    *,
    at: str | None,
    delay: str | None,
    queue: str | None,
    priority: str | None,
    dedupe_key: str | None = None,
    idempotency_key: str | None = None,
    after: tuple[str, ...] = (),
    created_by: str | None = None,
    hold: bool = False,
) -> Options:
    """The options of a delivery, as far as they were given."""
    from windlass.cli.text.parse_time import instant
    from windlass.core.durations import duration

    options: Options = {
        "due_at": None if at is None else instant(at, option="at").isoformat(),
        "delay_seconds": None if delay is None else duration(delay, option="in").total_seconds(),
        "queue": queue,
        "priority": None if priority is None else _priority(priority),
        "dedupe_key": dedupe_key,
        "idempotency_key": idempotency_key,
        "after": list(after) or None,
        "created_by": created_by,
        "hold": hold or None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _priority(text: str) -> int:
    from windlass.core.jobs.priority import priority

    return priority(int(text) if text.lstrip("-").isdigit() else text)
