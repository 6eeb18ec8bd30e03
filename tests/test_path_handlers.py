"""Definitions that operators make: their handler is a function by its dotted path."""

import pytest

from tests.waiting import until
from windlass import Windlass
from windlass.settings import Settings

CALLED: list[object] = []


def greet(name: str) -> str:
    """A function that a definition's row may name by its path."""
    CALLED.append(name)
    return f"Hello, {name}"


def allowing(*prefixes):
    return Settings.load({"worker.handler_paths": prefixes})


async def test_a_definition_made_by_an_operator_runs_the_function_at_its_path(database):
    CALLED.clear()
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        made = await wl.definitions.create(
            "greet.by.path", path="tests.test_path_handlers.greet", title="Greet", max_attempts=2
        )
        receipt = await wl.enqueue("greet.by.path", {"name": "Ada"})
        async with wl.running():
            result = await (await wl.jobs.get(receipt.job_id)).wait("20s")

    assert (made.kind, made.origin, made.max_attempts) == ("path", "operator", 2)
    assert (result, CALLED) == ("Hello, Ada", ["Ada"])


@pytest.mark.parametrize(
    ("prefix", "path", "why"),
    [
        ("shop", "tests.test_path_handlers.greet", "under none of the prefixes"),
        ("test", "tests.test_path_handlers.greet", "under none of the prefixes"),
        ("tests", "tests.test_path_handlers.nobody", "there is no nobody"),
        ("tests", "tests.nowhere.greet", "No module named"),
        ("tests", "tests.test_path_handlers.CALLED", "is no function"),
        ("tests", "tests.test_path_handlers.Windlass", "only imported there"),
        ("tests", "tests.test_path_handlers.greet.__globals__", "No module named"),
        ("tests", "tests.test_path_handlers:greet", "no dotted path"),
    ],
)
async def test_a_path_that_cannot_be_resolved_is_never_claimed_and_tells_why(
    database, prefix, path, why
):
    async with Windlass(database.url, settings=allowing(prefix)) as wl:
        await wl.definitions.create("lost", path=path)
        receipt = await wl.enqueue("lost", {})
        async with wl.running():
            await until(lambda: seen(wl))
            explanation = await wl.jobs.explain(receipt.job_id)
        job = await wl.jobs.get(receipt.job_id)

    assert (job.state, job.attempts) == ("queued", 0)
    assert explanation.code == "unknown_to_workers"
    assert why in explanation.sentence


async def seen(wl):
    return await wl.workers.list()
