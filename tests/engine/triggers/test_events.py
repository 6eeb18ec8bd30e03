"""An event's jobs are made once, and one trigger's trouble harms no other."""

import pytest

from tests.support.job_builders import KNOWN, change_definition
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import JobQuery
from windlass.engine.triggers.events import DEEPEST
from windlass.errors import (
    AmbiguousId,
    ConditionInvalid,
    DatabaseTimeout,
    EventChainTooLong,
    EventNotFound,
    OptionInvalid,
    TemplateInvalid,
    TriggerExists,
    TriggerNotFound,
)
from windlass.storage.connection.deadlock_retry import Deadlock


@pytest.fixture
def made(storage):
    async def jobs():
        return (await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=500)).jobs

    return jobs


@pytest.fixture
def emit(engine):
    async def say(name="folder.changed", **data):
        return await engine.events.emit(engine.events.make(name, data))

    return say


@pytest.fixture
def listen(engine):
    async def make(name="ingest", **changes):
        return await engine.triggers.create(
            name, **{"definition": KNOWN[0], "event": "folder.changed", **changes}
        )

    return make


async def test_an_event_creates_a_job_for_each_trigger(storage, emit, listen, made):
    first = await listen("a", payload={"path": "{{event.path}}", "size": "{{event.size}}"})
    second = await listen("b")

    event = await emit(path="/in", size=3)

    jobs = {job.trigger_id: job for job in await made()}
    assert set(jobs) == {first.id, second.id}
    whole = await storage.jobs.get(ALL_TENANTS, jobs[first.id].id)
    assert whole.payload == {"path": "/in", "size": 3}
    assert (whole.source, whole.source_ref) == ("event", f"{event.id} {first.id}")
    assert (await storage.triggers.event(ALL_TENANTS, event.id)).jobs == 2


@pytest.mark.parametrize("error", [DatabaseTimeout("answer", seconds=1), Deadlock("x", seconds=1)])
async def test_a_stored_event_has_happened_before_it_is_matched(
    engine, emit, listen, made, monkeypatch, error
):
    await listen()

    def fail():
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(engine.storage.triggers, "matching", fail)
        event = await emit()
    waiting = await made()
    await engine.events.match_waiting()

    assert (await engine.events.get(event.id)).jobs == 1
    assert (len(waiting), len(await made())) == (0, 1)


async def test_matching_is_retried_after_a_deadlock(engine, emit, listen, made, monkeypatch):
    await listen()
    matching, crossed = engine.storage.triggers.matching, iter([True, True])

    def sometimes():
        if next(crossed, False):
            raise Deadlock("get past the locks", seconds=1)
        return matching()

    monkeypatch.setattr(engine.storage.triggers, "matching", sometimes)
    await emit()

    assert len(await made()) == 1


async def test_matching_again_creates_no_more_jobs(engine, emit, listen, made):
    await listen()
    event = await emit()

    assert await engine.events.match(event.id) == 0
    assert len(await made()) == 1


async def test_a_condition_decides_if_a_trigger_fires(emit, listen, made):
    await listen(condition={"kind": {"in": ["a", "b"]}})

    await emit(kind="c")
    assert await made() == []
    await emit(kind="a")
    assert len(await made()) == 1


async def test_a_missing_field_is_recorded_on_its_trigger_only(engine, emit, listen, made):
    await listen("bad", payload={"path": "{{event.nothing}}"})
    good = await listen("good")

    await emit(path="/in")

    assert [job.trigger_id for job in await made()] == [good.id]
    assert "event.nothing" in (await engine.triggers.get("bad")).last_error
    assert (await engine.triggers.get("good")).last_error is None


async def test_a_payload_that_does_not_fit_its_definition_is_recorded_and_not_stored(
    engine, storage, emit, listen, made
):
    schema = '{"properties": {"size": {"type": "integer"}}}'
    await change_definition(storage, KNOWN[0], payload_schema=schema)
    await listen(payload={"size": "{{event.size}}"})

    await emit(size="large")
    refused = await made()
    noted = (await engine.triggers.get("ingest")).last_error
    await emit(size=3)

    assert (refused, len(await made())) == ([], 1)
    assert "size" in (noted or "")


async def test_an_unexpected_error_is_recorded_on_its_trigger_only(
    engine, emit, listen, made, monkeypatch
):
    await listen("broken")
    good = await listen("good")
    after = engine.job_factory.after

    async def break_one(trigger, event):
        if trigger.name == "broken":
            raise ZeroDivisionError("of 42")
        return await after(trigger, event)

    monkeypatch.setattr(engine.job_factory, "after", break_one)
    await emit()

    assert [job.trigger_id for job in await made()] == [good.id]
    assert (await engine.triggers.get("broken")).last_error == "unexpected ZeroDivisionError"


async def test_an_outage_while_jobs_are_created_is_not_a_refusal(
    engine, emit, listen, made, monkeypatch
):
    await listen()

    async def time_out(*_):
        raise DatabaseTimeout("answer", seconds=1)

    with monkeypatch.context() as broken:
        broken.setattr(engine.job_factory, "after", time_out)
        event = await emit()
    refused = (await engine.triggers.get("ingest")).last_error
    await engine.events.match_waiting()

    assert refused is None
    assert (await engine.events.get(event.id)).jobs == len(await made()) == 1


async def test_a_trigger_that_was_deleted_or_disabled_never_fires(engine, emit, listen, made):
    await listen("gone")
    await listen("off")
    await engine.triggers.delete("gone")
    await engine.triggers.disable("off")

    await emit()

    assert await made() == []


async def test_an_equal_job_within_the_window_is_not_created_again(emit, listen, made):
    await listen(payload={"path": "{{event.path}}"}, dedupe_window="5m")

    await emit(path="/in")
    await emit(path="/in")
    await emit(path="/out")

    assert len(await made()) == 2


async def test_a_delay_lets_the_job_wait(emit, listen, made, clock):
    await listen(delay="30s")

    await emit()

    [job] = await made()
    assert (job.due_at - clock.now).total_seconds() == 30


async def test_a_chain_of_events_is_cut(engine):
    engine.events.make("deep", {}, depth=DEEPEST)

    with pytest.raises(EventChainTooLong):
        engine.events.make("deeper", {}, depth=DEEPEST + 1)


@pytest.mark.parametrize(("wrong", "error"), [
    ({"payload": {"path": "{{event.path"}}, TemplateInvalid),
    ({"condition": {"kind": {"like": "a"}}}, ConditionInvalid),
    ({"event": None}, OptionInvalid),
])  # fmt: skip
async def test_an_invalid_trigger_is_refused_when_it_is_saved(listen, wrong, error):
    with pytest.raises(error):
        await listen(**wrong)


async def test_a_trigger_name_is_unique(listen):
    await listen("twice")

    with pytest.raises(TriggerExists):
        await listen("twice")


async def test_triggers_and_events_are_found_by_an_id_suffix(engine, emit, listen):
    trigger, event = await listen("a"), await emit()

    assert (await engine.triggers.get(trigger.id.hex[-6:])).id == trigger.id
    assert (await engine.triggers.get("a")).id == trigger.id
    assert (await engine.events.get(event.id.hex[-6:])).id == event.id
    with pytest.raises(TriggerNotFound):
        await engine.triggers.get("0" * 12)
    with pytest.raises(EventNotFound):
        await engine.events.get("0" * 12)


async def test_a_name_in_two_tenants_is_ambiguous(engine, listen):
    mine = await listen("a")
    await listen("a", tenant="acme")

    with pytest.raises(AmbiguousId, match="several tenants have a trigger"):
        await engine.triggers.get("a")
    assert (await engine.triggers.get("a", Scope(mine.tenant))).id == mine.id


async def test_a_dry_run_returns_the_trigger_without_storing_it(engine, listen):
    kept = await listen("a")

    tried = await listen("b", dry_run=True)
    renamed = await engine.triggers.update("a", dry_run=True, name="c", enabled=False)

    assert (tried.name, tried.event_name) == ("b", "folder.changed")
    assert (renamed.name, renamed.enabled) == ("c", False)
    assert await engine.triggers.list() == [kept]
    with pytest.raises(TriggerExists):
        await listen("a", dry_run=True)
