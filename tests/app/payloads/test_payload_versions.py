"""Payload versions: older ones are upcast, newer ones left alone."""

import pytest

from windlass import Windlass
from windlass.errors import (
    DefinitionInvalid,
)


def greet(name: str) -> str:
    return f"Hello, {name}"


async def test_an_old_payload_is_upcast_step_by_step_before_it_runs(database):
    async with Windlass(database.url) as old:

        @old.job("greet")
        def greet_v1(name: str) -> str:
            return name

        first = await greet_v1.enqueue(name="Ada Lovelace")

    async with Windlass(database.url) as new:

        @new.job("greet", version=3)
        def greet_v3(first: str, last: str, title: str) -> str:
            return f"{title} {first} {last}"

        @greet_v3.upcast(from_version=1)
        def split(payload):
            first, last = payload["name"].split()
            return {"first": first, "last": last}

        @greet_v3.upcast(from_version=2)
        def entitle(payload):
            return {**payload, "title": "Countess"}

        second = await greet_v3.enqueue(first="Grace", last="Hopper", title="Admiral")
        async with new.running():
            results = [await (await new.jobs.get(r.job_id)).wait("20s") for r in (first, second)]

    assert results == ["Countess Ada Lovelace", "Admiral Grace Hopper"]


async def test_an_older_worker_never_claims_a_newer_payload(database):
    async with Windlass(database.url) as new:
        newer = await new.job("greet", version=2)(greet).enqueue(name="new")
    async with Windlass(database.url) as old:
        older = await old.job("greet")(greet).enqueue(name="old")
        async with old.running():
            assert await (await old.jobs.get(older.job_id)).wait("20s") == "Hello, old"
            explanation = await old.jobs.explain(newer.job_id)
        waits = await old.jobs.get(newer.job_id)

    assert (waits.state, waits.attempts) == ("queued", 0)
    assert explanation.code == "unknown_to_workers"
    assert "version 2" in explanation.sentence


def test_an_upcast_from_a_version_that_is_not_older_is_refused(wl):
    hello = wl.job(greet)

    with pytest.raises(DefinitionInvalid, match="version 1"):
        hello.upcast(from_version=1)(lambda payload: payload)
