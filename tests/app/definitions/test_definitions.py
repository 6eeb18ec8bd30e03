"""Definitions edited, disabled and reset by operators, on each database."""

import pytest

from tests.support.wait import until
from windlass import Backoff, Settings, Windlass, sync
from windlass.errors import (
    DefinitionDisabled,
    DefinitionExists,
    DefinitionInUse,
    DefinitionNotFound,
    OptionInvalid,
)

CALLED: list[object] = []


def greet(name: str) -> str:
    """A function that a definition's row may name by its path."""
    CALLED.append(name)
    return f"Hello, {name}"


@pytest.fixture
def hello(wl):
    @wl.job(max_attempts=3, tags=["greeting"])
    def hello(name: str = "you") -> str:
        return f"Hello, {name}"

    return hello


async def test_an_edit_takes_effect_is_marked_and_can_be_reset(wl, hello):
    await wl.ready()

    edited = await wl.definitions.edit("hello", max_attempts=7, priority="high", timeout="9s")
    receipt = await hello.enqueue()
    back = await wl.definitions.reset("hello")

    job = await wl.jobs.get(receipt.job_id)
    assert edited.edited == ("priority", "max_attempts", "timeout_seconds")
    assert (job.max_attempts, job.priority) == (7, 50)
    assert (back.edited, back.max_attempts, back.priority) == ((), 3, 100)


async def test_one_edit_is_reset_and_the_others_stay(wl, hello):
    await wl.ready()
    await wl.definitions.edit("hello", rate_limit="100/min", max_attempts=7)

    left = await wl.definitions.reset("hello", "rate_limit")

    assert left.edited == ("max_attempts",)
    assert left.rate_count is None


async def test_a_call_option_overrides_an_edit(wl, hello):
    await wl.ready()
    await wl.definitions.edit("hello", max_attempts=7)

    receipt = await hello.options(max_attempts=2).enqueue()

    assert (await wl.jobs.get(receipt.job_id)).max_attempts == 2


async def test_an_enqueue_by_key_from_another_program_respects_the_edit(wl, hello, database):
    await wl.ready()
    await wl.definitions.edit("hello", max_attempts=7)

    async with Windlass(database.url) as other:
        receipt = await other.enqueue("hello", {"name": "Ada"})
        job = await other.jobs.get(receipt.job_id)

    assert job.max_attempts == 7


async def test_a_worker_respects_an_edited_backoff_and_time_limit(wl):
    @wl.job(max_attempts=2, backoff=Backoff(kind="fixed", base=3600))
    def fails() -> None:
        raise ValueError("no")

    await wl.ready()
    await wl.definitions.edit("fails", backoff=Backoff(kind="none"))
    receipt = await fails.enqueue()

    async with wl.running():
        await until(lambda: ended(wl, receipt))

    job = await wl.jobs.get(receipt.job_id)
    assert (job.state, job.attempts) == ("dead_letter", 2)


@pytest.mark.parametrize(
    "change",
    [
        {"max_attempts": 0},
        {"priority": "urgent"},
        {"rate_limit": "many"},
        {"queue": ""},
        {"handler": "shop.other"},
        {"max_concurrency": 0},
        {"timeout": "0s"},
        {"tags": "vip"},
        {"enabled": "yes"},
    ],
)
async def test_an_invalid_edit_changes_nothing(wl, hello, change):
    await wl.ready()

    with pytest.raises(OptionInvalid):
        await wl.definitions.edit("hello", **change)

    assert (await wl.definitions.get("hello")).edited == ()


async def test_a_definition_missing_from_code_is_marked_until_it_returns(database):
    async with Windlass(database.url) as before:
        before.job(greet)
        before.job("other")(lambda: None)
        await before.definitions.sync()
    async with Windlass(database.url) as after:
        after.job("other")(lambda: None)
        gone = await after.definitions.sync()
        row = await after.definitions.get("greet")
    async with Windlass(database.url) as again:
        again.job(greet)
        again.job("other")(lambda: None)
        await again.definitions.sync()
        back = await again.definitions.get("greet")

    assert gone == {"greet"}
    assert (row.missing_from_code, back.missing_from_code) == (True, False)


async def test_system_definitions_are_shown_on_request(wl, hello):
    wl.job("own.chore", system=True)(lambda: None)

    shown = {definition.key for definition in await wl.definitions.list()}
    every_one = {definition.key for definition in await wl.definitions.list(system=True)}

    assert "own.chore" not in shown
    assert {"own.chore", "hello"} <= every_one


async def test_custom_fields_of_a_definition_are_stored_and_edited(wl):
    wl.job("billing", metadata={"team": "billing", "sla": "4h"})(lambda: None)
    await wl.ready()

    edited = await wl.definitions.edit("billing", metadata={"team": "payments"})

    assert edited.metadata == {"team": "payments"}
    assert (await wl.definitions.reset("billing")).metadata == {"team": "billing", "sla": "4h"}


async def test_a_definition_declared_disabled_takes_no_jobs_until_it_is_enabled(wl):
    job = wl.job("dormant", enabled=False)(lambda: None)

    with pytest.raises(DefinitionDisabled):
        await job.enqueue()
    await wl.definitions.enable("dormant")

    assert (await job.enqueue()).created


async def test_a_definition_in_use_cannot_be_deleted(wl, hello):
    await hello.enqueue()

    with pytest.raises(DefinitionInUse):
        await wl.definitions.delete("hello")
    with pytest.raises(DefinitionNotFound):
        await wl.definitions.delete("nobody")


async def test_a_key_belongs_to_one_definition(wl, hello, database):
    await wl.ready()

    allowing = Settings.load({"worker.handler_paths": ["shop"]})
    async with Windlass(database.url, settings=allowing) as operator:
        with pytest.raises(DefinitionExists):
            await operator.definitions.create("hello", path="shop.hello")


def test_the_blocking_api_has_the_same_verbs(database):
    with sync.Windlass(database.url) as wl:
        job = wl.job("hello")(greet)
        wl.definitions.sync()
        wl.definitions.edit("hello", max_attempts=9)
        wl.queues.limit("default", 3)
        receipt = job.enqueue(name="Ada")

        assert wl.jobs.get(receipt.job_id).max_attempts == 9
        assert wl.queues.get("default").max_concurrency == 3
        assert wl.definitions.reset("hello").edited == ()


async def ended(wl, receipt):
    return (await wl.jobs.get(receipt.job_id)).ended
