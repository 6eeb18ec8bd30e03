"""`windlass enqueue`: make a job from the shell."""

from datetime import datetime
from typing import Any

import click

from windlass.cli.call import Call
from windlass.cli.commands import Command, with_call
from windlass.errors import DefinitionNotFound, OptionInvalid

Options = dict[str, Any]


@click.command(
    cls=Command,
    examples=[
        "windlass enqueue hello name=Ada",
        "windlass enqueue hello name=Ada --in 10m --priority high",
        "windlass enqueue resize_all --payload '{\"ids\": [1, 2, 3]}' --wait",
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
@click.option("--in", "delay", metavar="DURATION", help="Not before so long from now, such as 10m.")
@click.option("--queue", metavar="NAME", help="Another queue than the definition's.")
@click.option(
    "--priority", metavar="P", help="critical, high, normal, low, or a number: lower first."
)
@click.option("--dedupe-key", metavar="KEY", help="At most one open job with this key.")
@click.option("--idempotency-key", metavar="KEY", help="At most one job with this key, ever.")
@click.option("--after", multiple=True, metavar="ID", help="Wait for this job; may be repeated.")
@click.option("--hold", is_flag=True, help="Wait until somebody says `jobs run-now`.")
@click.option("--dry-run", is_flag=True, help="Check it and store nothing.")
@click.option("--wait", is_flag=True, help="Wait for its end (--timeout) and print its result.")
@with_call
def enqueue(
    call: Call,
    /,
    definition: str,
    values: tuple[str, ...],
    payload: str | None,
    file: str | None,
    dry_run: bool,
    wait: bool,
    **given: Any,
) -> None:
    """Make a job of DEFINITION.

    A value that is JSON is taken as such, any other as text; a field for text keeps it as it is.
    The job's id is printed. An equal job that exists already is an ordinary answer.
    """
    from windlass.cli.local import Local
    from windlass.cli.payload import split_pairs, typed, whole_payload

    whole = whole_payload(values, payload, file)
    pairs = split_pairs(values) if whole is None else {}
    options = delivery_options(**given)

    async def store(local: Local) -> dict[str, Any]:
        try:
            schema = await local.schema(definition)
        except DefinitionNotFound:
            if not call.settings.modules:
                raise
            await local.learn(call.settings.modules)
            schema = await local.schema(definition)
        data = typed(pairs, schema) if whole is None else whole
        return await local.enqueue(definition, data, options, dry_run=dry_run)  # type: ignore[arg-type]  # the names were checked where they were read

    receipt = call.ask(store)
    if wait and not dry_run:
        from windlass.cli.waiting import wait_for

        id = receipt["job_id"]
        wait_for(call, id, said=f"Job {id[-8:]} {receipt['status']}; waiting for its end.")
    else:
        _print(call, definition, receipt)


def delivery_options(
    *,
    at: str | None,
    delay: str | None,
    queue: str | None,
    priority: str | None,
    dedupe_key: str | None,
    idempotency_key: str | None,
    after: tuple[str, ...],
    hold: bool,
) -> Options:
    """The options of a delivery, as far as they were given."""
    options: Options = {
        "at": None if at is None else _instant(at),
        "delay": delay,
        "queue": queue,
        "priority": None if priority is None else _priority(priority),
        "dedupe_key": dedupe_key,
        "idempotency_key": idempotency_key,
        "after": list(after) or None,
        "hold": hold or None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _print(call: Call, definition: str, receipt: dict[str, Any]) -> None:
    if call.out.format in ("json", "jsonl"):
        call.out.json(receipt)
        return
    if receipt["status"] == "valid":
        call.out.say(f"A job of {definition} could be enqueued; nothing was stored.")
        return
    if receipt["status"] == "existing":
        call.out.say(f"An equal job exists: same {receipt['because']}.")
    call.out.data(receipt["job_id"])
    call.out.hint(f"windlass jobs show {receipt['job_id'][-8:]}")


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise OptionInvalid(
            "at",
            text,
            allowed="an instant such as 2030-01-31T09:00+01:00, or without an offset "
            "for the local time",
        ) from None
    return at if at.tzinfo else at.astimezone()


def _priority(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text
