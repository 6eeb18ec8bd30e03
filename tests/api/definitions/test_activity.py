"""Activity shown with a definition, and the filters of the definition list."""

import asyncio

import pytest

from tests.support.wait import until
from windlass import Settings, Windlass, cron
from windlass.errors import OptionInvalid


async def runs_on_one(wl, key):
    return len((await wl.definitions.activity(key)).workers or ()) == 1


async def fails_to_import(wl, key):
    errors = (await wl.definitions.activity(key)).import_errors or {}
    return any("nowhere" in error for error in errors.values())


@pytest.fixture
def busy(wl):
    @wl.job(schedule=cron("0 2 * * *"), queue="mail", tags=["vip"], max_attempts=1)
    def busy(fail: bool = False) -> None:
        """Sends much."""
        if fail:
            raise ValueError("no")

    return busy


@pytest.fixture
def idle(wl):
    @wl.job("idle.job")
    def idle() -> None: ...

    return idle


async def test_a_definition_shows_its_job_activity(wl, busy, idle, ended):
    before = await wl.definitions.activity("busy")
    for receipt in [await busy.enqueue(), await busy.enqueue(), await busy.enqueue(fail=True)]:
        job = await ended(receipt)
    async with wl.running():
        await until(lambda: runs_on_one(wl, "busy"))
    after = await wl.definitions.activity("busy")
    row = await wl.definitions.get("busy")

    assert (before.last_run_at, before.success_rate, before.p95_seconds) == (None, None, None)
    assert (before.strategy, before.running, before.workers) == ("cron", 0, [])
    assert before.next_run_at is not None
    assert after.last_run_at == job.last_started_at
    assert after.success_rate == pytest.approx(2 / 3)
    assert after.p95_seconds is not None
    assert row.created_at is not None
    assert row.updated_at is not None
    assert (await wl.definitions.activity("idle.job")).strategy == "on_demand"
    await wl.definitions.disable("busy")
    assert (await wl.definitions.activity("busy")).next_run_at is None


async def test_running_jobs_are_counted(wl):
    begun, end = asyncio.Event(), asyncio.Event()

    @wl.job
    async def waits() -> None:
        begun.set()
        await end.wait()

    await waits.enqueue()
    async with wl.running():
        await begun.wait()
        seen = await wl.definitions.activity("waits")
        end.set()

    assert seen.running == 1


async def test_an_import_error_of_a_worker_is_shown(database):
    settings = Settings.load({"worker.handler_paths": ("tests",)})
    async with Windlass(database.url, settings=settings) as wl:
        await wl.definitions.create("lost", path="tests.nowhere.lost")
        async with wl.running():
            await until(lambda: fails_to_import(wl, "lost"))
            activity = await wl.definitions.activity("lost")

    assert activity.workers == []


async def test_definition_lists_can_be_filtered(wl, api, busy, idle):
    await wl.ready()
    await wl.definitions.edit("idle.job", max_attempts=9)
    await wl.definitions.disable("idle.job")

    for query, keys in {
        "": ["busy", "idle.job"],
        "queue=mail": ["busy"],
        "kind=path": [],
        "enabled=false": ["idle.job"],
        "edited=true": ["idle.job"],
        "missing=true": [],
        "tag=vip": ["busy"],
        "search=SENDS": ["busy"],
        "search=.job&enabled=false": ["idle.job"],
    }.items():
        response = await api.get(f"/definitions?{query}")
        assert [each["key"] for each in response.json()["items"]] == keys, query
    found = await wl.definitions.list(queue="mail", enabled=True, search="much")
    assert [each.key for each in found] == ["busy"]
    with pytest.raises(OptionInvalid):
        await wl.definitions.list(kind="nonsense")


async def test_a_page_of_definitions_reads_only_its_own_triggers(wl, api, busy, monkeypatch):
    engine = await wl.ready()
    queries = []
    run = engine.storage.database.run

    async def counted(verb, **params):
        queries.append(verb)
        return await run(verb, **params)

    monkeypatch.setattr(engine.storage.database, "run", counted)
    response = await api.get("/definitions")
    [shown] = response.json()["items"]

    assert (shown["strategy"], shown["running"]) == ("cron", 0)
    assert shown["next_run_at"] is not None
    assert "triggers" not in queries
    assert queries.count("definition_triggers") == 1
