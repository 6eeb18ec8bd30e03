"""A definition's default payload fills in what a call leaves out, and fields may have an alias."""

from typing import Annotated

import httpx2
import pytest
from pydantic import Field

from windlass import Windlass, sync
from windlass.api.access.callers import open_access
from windlass.api.app import create_api
from windlass.errors import DefinitionInvalid, PayloadInvalid

DEFAULT = {"to": "ada", "times": 2}


@pytest.fixture
def hello(wl):
    @wl.job(default_payload=DEFAULT, dedupe="payload", key="args.to")
    def hello(to: str, times: int, loud: bool = False) -> str:
        return f"{to} {times} {loud}"

    return hello


@pytest.fixture
def move(wl):
    @wl.job(key="args.from")
    def move(
        from_: Annotated[str, Field(alias="from", min_length=1)],
        to: str,
        class_: Annotated[str, Field(alias="class")] = "any",
    ) -> str:
        return f"{from_} {to} {class_}"

    return move


async def over_http(wl, path, body):
    transport = httpx2.ASGITransport(create_api(wl, authenticate=open_access))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as api:
        return await api.post(path, json=body)


async def test_every_way_to_enqueue_applies_the_default_payload(wl, hello, stored, database, ended):
    last = await hello.enqueue()
    await hello.options(tenant="default").enqueue("bob")
    await wl.enqueue("hello", {"times": 3})
    await wl.enqueue_many([hello.make(times=4), await wl.make("hello", {"times": 5})])
    async with Windlass(database.url) as stranger:  # knows the row, not the handler
        await stranger.enqueue("hello", {"times": 6})
    result = await over_http(wl, "/jobs", {"definition": "hello", "payload": {"times": 7}})
    trigger = await wl.triggers.create(
        "on", definition="hello", event="called", payload={"times": 8}
    )
    await wl.emit("called", {})

    assert result.status_code == 201
    payloads = [job.payload for job in await stored()]
    expected = [DEFAULT, {"to": "bob", "times": 2}]
    expected += [{"to": "ada", "times": times} for times in (3, 4, 5, 6, 7, 8)]
    assert sorted(map(str, payloads)) == sorted(map(str, expected)), trigger
    assert (await ended(last)).result == "ada 2 False"


def test_blocking_calls_apply_the_default_payload(database):
    with sync.Windlass(database.url) as wl:

        @wl.job(default_payload=DEFAULT)
        def hello(to: str, times: int) -> None: ...

        jobs = [hello.enqueue(times=1), wl.enqueue("hello", {"to": "bob"})]

        assert [wl.jobs.get(job.job_id).payload for job in jobs] == [
            {"to": "ada", "times": 1},
            {"to": "bob", "times": 2},
        ]


async def test_a_field_that_is_not_a_python_name_uses_an_alias(wl, move, ended, database):
    schema = move.handler.payload.schema

    by_name = await move.enqueue(from_="/in", to="/out")
    by_position = await move.enqueue("/in", "/out", class_="big")
    by_key = await wl.enqueue("move", {"from": "/in", "to": "/out"})
    async with Windlass(database.url) as stranger:
        by_row = await stranger.enqueue("move", {"from": "/in", "to": "/out"})

    assert list(schema["properties"]) == ["from", "to", "class"]
    assert schema["required"] == ["from", "to"]
    found = [await wl.jobs.get(each.job_id) for each in (by_name, by_position, by_key, by_row)]
    assert [job.payload for job in found] == [
        {"from": "/in", "to": "/out"},
        {"from": "/in", "to": "/out", "class": "big"},
        {"from": "/in", "to": "/out"},
        {"from": "/in", "to": "/out"},
    ]
    assert (await ended(by_name)).result == "/in /out any"
    assert (await ended(by_position)).result == "/in /out big"


async def test_errors_in_an_aliased_field_name_the_alias(wl, move):
    with pytest.raises(PayloadInvalid) as called:
        await move.enqueue(from_="", to="/out")
    with pytest.raises(PayloadInvalid) as keyed:
        await wl.enqueue("move", {"from_": "/in", "to": "/out"})

    assert [error.pointer for error in called.value.errors] == ["/from"]
    assert {error.pointer for error in keyed.value.errors} == {"/from", "/from_"}


def test_two_parameters_cannot_share_an_alias(wl):
    @wl.job
    def move(a: Annotated[str, Field(alias="b")], b: str) -> None: ...

    with pytest.raises(DefinitionInvalid, match="both called 'b'"):
        move.handler.payload.schema  # noqa: B018  read for the first time


async def test_a_default_payload_may_contain_only_payload_fields(wl):
    @wl.job(default_payload={"too": "ada"})
    def hello(to: str) -> None: ...

    with pytest.raises(DefinitionInvalid, match="no such field") as caught:
        await wl.ready()

    assert "Did you mean 'to'?" in str(caught.value.hint)
