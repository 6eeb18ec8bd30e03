"""Definitions created by operators: the handler is a function given by its dotted path."""

import pytest

from tests.support.wait import until
from windlass import Windlass
from windlass.errors import DefinitionInvalid, DefinitionNotFound, PayloadInvalid, WindlassError
from windlass.settings import Settings

CALLED: list[object] = []


def greet(name: str) -> str:
    """A function that a definition's row may name by its path."""
    CALLED.append(name)
    return f"Hello, {name}"


def allowing(*prefixes):
    return Settings.load({"worker.handler_paths": prefixes})


async def test_an_operators_definition_runs_the_function_at_its_path(database):
    CALLED.clear()
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        created = await wl.definitions.create(
            "greet.by.path",
            path="tests.app.definitions.test_path_handlers.greet",
            title="Greet",
            max_attempts=2,
        )
        receipt = await wl.enqueue("greet.by.path", {"name": "Ada"})
        async with wl.running():
            result = await (await wl.jobs.get(receipt.job_id)).wait("20s")

    assert (created.kind, created.origin, created.max_attempts) == ("path", "operator", 2)
    assert (result, CALLED) == ("Hello, Ada", ["Ada"])


@pytest.mark.parametrize(
    ("prefix", "path", "why"),
    [
        (
            "tests.nowhere",
            "tests.app.definitions.test_path_handlers.greet",
            "under none of the prefixes",
        ),
        ("test", "tests.app.definitions.test_path_handlers.greet", "under none of the prefixes"),
        ("tests", "tests.app.definitions.test_path_handlers.nobody", "there is no nobody"),
        ("tests", "tests.nowhere.greet", "No module named"),
        ("tests", "tests.app.definitions.test_path_handlers.CALLED", "is no function"),
        ("tests", "tests.app.definitions.test_path_handlers.Windlass", "only imported there"),
        ("tests", "tests.app.definitions.test_path_handlers.greet.__globals__", "No module named"),
    ],
)
async def test_an_unresolvable_path_is_never_claimed_and_shows_why(database, prefix, path, why):
    async with Windlass(database.url, settings=allowing("tests")) as operator:
        await operator.definitions.create("lost", path=path)
    async with Windlass(database.url, settings=allowing(prefix)) as wl:
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


@pytest.mark.parametrize(
    ("wrong", "pointer", "why"),
    [
        ({"path": "shop.greet"}, "/path", "under none of the prefixes"),
        ({"path": "testing.greet"}, "/path", "under none of the prefixes"),
        ({"path": "tests.app.definitions.test_path_handlers:greet"}, "/path", "no dotted path"),
        ({"path": "tests"}, "/path", "no dotted path"),
        ({"path": "tests..greet"}, "/path", "no dotted path"),
        ({"path": "tests.1.greet"}, "/path", "no dotted path"),
        ({"payload_schema": {"type": "strin"}}, "/payload_schema", "cannot be used"),
        ({"payload_schema": {"required": 7}}, "/payload_schema", "cannot be used"),
        (
            {"payload_schema": {"properties": {"a": {"$ref": "http://localhost:9/x"}}}},
            "/payload_schema",
            "leads nowhere",
        ),
        ({"payload_schema": {"$ref": "file:///etc/passwd"}}, "/payload_schema", "leads nowhere"),
        ({"payload_schema": {"pattern": "(?=a)"}}, "/payload_schema", "cannot be used"),
        ({"payload_schema": {"title": "x" * 70_000}}, "/payload_schema", "the limit is"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_an_invalid_definition_is_refused_when_saved(database, wrong, pointer, why):
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        with pytest.raises(DefinitionInvalid, match=why) as caught:
            await wl.definitions.create("wrong", **{"path": "tests.a.greet", **wrong})
        with pytest.raises(DefinitionNotFound):
            await wl.definitions.get("wrong")

    assert [error.pointer for error in caught.value.errors] == [pointer]


@pytest.mark.parametrize(
    "wrong",
    [
        {"payload_schema": {"properties": {"a": {"const": "\0"}}}},
        {"default_payload": {"a": 10**400}},
        {"default_payload": {"a": "x" * 300_000}},
        {"description": "\0"},
        {"title": "t" * 192},
    ],
    ids=lambda value: str(value)[:40],
)
async def test_an_unstorable_definition_is_refused_when_saved(database, wrong):
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        with pytest.raises(WindlassError):
            await wl.definitions.create("wrong", **{"path": "tests.a.greet", **wrong})


async def test_a_schema_nested_too_deeply_is_refused_when_saved(database):
    schema = {"type": "string"}
    for _ in range(80):
        schema = {"not": schema}
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        with pytest.raises(WindlassError, match="levels"):
            await wl.definitions.create("wrong", path="tests.a.greet", payload_schema=schema)


async def test_a_complete_default_payload_must_fit_the_schema(database):
    schema = {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}
    about = {"path": "tests.a.greet", "payload_schema": schema}
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        with pytest.raises(PayloadInvalid, match="/a"):
            await wl.definitions.create("wrong", **about, default_payload={"a": "x"})
        await wl.definitions.create("whole", **about, default_payload={"a": 1})
        await wl.definitions.create("partial", **about, default_payload={"b": 1})
