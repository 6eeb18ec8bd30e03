"""`windlass jobs graph`: what a job waits for, and what waits for it."""

from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import Command, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import STATES, Look

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

_GONE = Look("·", "Deleted", "bright_black")


@click.command(
    cls=Command,
    examples=["windlass jobs graph 8c1f42d7", "windlass jobs graph 8c1f42d7 --json"],
)
@click.argument("job")
@with_call
def graph(call: Invocation, job: str) -> None:
    """List the jobs that JOB waits for, and those that wait for it."""
    from windlass.cli.connect.api_client import path

    async def read(api: "Client") -> "tuple[str, JsonObject]":
        id = (await api.get(path("jobs", job)))["id"]
        return id, await api.get(path("jobs", id, "graph"))

    id, found = call.ask(read)

    def other(edge: Item) -> str:
        return "parent" if edge["child_id"] == id else "child"

    call.out.list(
        found["edges"],
        [
            Column("parent_id", f"JOB {id[-8:]}", lambda edge: _RELATIONS[other(edge)]),
            Column("child_id", "ID", lambda edge: str(edge[f"{other(edge)}_id"])[-8:]),
            Column(
                "parent_state", "STATE", lambda edge: _state_label(edge[f"{other(edge)}_state"])
            ),
            Column("child_state"),
            Column("policy", "ON PARENT FAILURE", lambda edge: _POLICIES[edge["policy"]]),
            Column("settled"),
        ],
        body=found,
    )
    if not found["edges"]:
        call.out.say("It waits for no other job, and none waits for it.")


_RELATIONS = {"parent": "waits for", "child": "is waited for by"}
_POLICIES = {"cancel": "the child is canceled", "run": "the child runs", "wait": "the child waits"}


def _state_label(state: str | None) -> Look:
    if state is None:
        return _GONE
    return STATES["waiting" if state == "pending" else state]
