"""`windlass dead edit-retry`: retry a job with another payload."""

import json
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.styles import state_of
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject


@click.command(
    "edit-retry",
    cls=CommandWithCall,
    examples=[
        "windlass dead edit-retry 8c1f42d7 to=ada@example.com",
        "windlass dead edit-retry 8c1f42d7 --payload '{\"ids\": [1, 2]}'",
        "windlass dead edit-retry 8c1f42d7 to=ada@example.com --dry-run",
    ],
)
@click.argument("job")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]... | -")
@click.option("--payload", metavar="JSON", help="The whole payload as a JSON object.")
@click.option("--file", metavar="FILE", help="A file with the whole payload; - is standard input.")
@click.option("--dry-run", is_flag=True, help="Print the payload it would have, change nothing.")
@with_call
def edit_retry(
    call: Invocation,
    job: str,
    values: tuple[str, ...],
    payload: str | None,
    file: str | None,
    dry_run: bool,
) -> None:
    """Retry the dead-lettered JOB with another payload.

    Fields given as key=value replace those of its payload; the others stay.
    """
    from windlass.cli.connect.api_client import path
    from windlass.cli.text.parse_payload import full_payload, split_pairs, typed

    whole = full_payload(values, payload, file)
    pairs = split_pairs(values) if whole is None else {}
    if whole is None and not pairs:
        raise CommandInvalid(
            "no payload is given.",
            hint="Give key=value pairs, --payload or --file; `windlass dead retry` changes none.",
        )

    async def edit(api: "Client") -> "tuple[dict[str, Any], JsonObject | None]":
        found = await api.get(path("jobs", job))
        data = whole
        if data is None:
            known = await api.get(path("definitions", found["definition"]))
            data = _merge_payload(found["payload"], typed(pairs, known["payload_schema"]))
        if dry_run:
            return data, None
        at = path("dead", found["id"], "edit-retry")
        return data, await api.post(at, {"payload": data})

    data, edited = call.ask(edit)
    if edited is None:
        call.out.json(data)
    elif call.out.format == "people":
        call.out.data(
            f"{edited['id'][-8:]}  {call.out.look(state_of(edited))}  {edited['definition']}  "
            f"{json.dumps(edited['payload'], ensure_ascii=False)}"
        )
    elif call.out.format in ("json", "jsonl"):
        call.out.json(edited)
    else:
        call.out.data(edited["id"])


def _merge_payload(current: Any, changed: dict[str, Any]) -> dict[str, Any]:
    from windlass.core.payloads.secret_patterns import MASK

    merged = {**(current if isinstance(current, dict) else {}), **changed}
    unchanged = {name: value for name, value in merged.items() if name not in changed}
    if MASK in json.dumps(unchanged, ensure_ascii=False):
        raise CommandInvalid(
            "the payload has secrets, which cannot be read back.",
            hint="Give those fields too, or the whole payload by --payload or --file.",
        )
    return merged
