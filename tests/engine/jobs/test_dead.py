"""The dead letter: grouped by cause, retried in groups, edited, and reported to hooks."""

import pytest

from tests.support.job_builders import (
    ALDER,
    LEASE_TIME,
    a_definition,
    a_job,
    claim_all,
    enqueue,
    finish,
    job,
    set_enabled,
    started,
    state_of,
)
from windlass.core.jobs.dead import DEAD_LETTERED, edit_message, fields_in_schema
from windlass.core.jobs.dedupe import payload_key
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.engine.triggers.events import DEEPEST
from windlass.errors import (
    DuplicateJob,
    JobNotFound,
    JobStateConflict,
    OptionInvalid,
    PayloadInvalid,
)
from windlass.storage.leases.expired import ExpiredLease

SCHEMA = """{"type": "object", "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
             "required": ["n"], "additionalProperties": false}"""
CAUSE = "c" * 16


@pytest.fixture
def fail(engine, storage):
    """A job that failed for good, recorded by a worker's own way."""

    async def end(**changes):
        told = {"error": "boom", "error_type": "OSError", "fingerprint": CAUSE}
        told |= {key: changes.pop(key) for key in list(changes) if key in told}
        lease = await started(storage, **changes)
        await engine.leases(worker=ALDER).finish([finish(lease, JobState.DEAD_LETTER, **told)])
        return lease.job_id

    return end


@pytest.fixture
def made(engine, storage):
    """The jobs that events have made, once all events are matched."""

    async def jobs():
        await engine.events.match_waiting()
        page = await storage.jobs.page(ALL_TENANTS, JobQuery.of(source="event"), limit=500)
        return [await job(storage, each.id) for each in page.jobs]

    return jobs


async def test_groups_show_what_fails_and_why(engine, fail):
    await fail()
    await fail()
    await fail(definition="other", error="no route", fingerprint="d" * 16)

    groups = await engine.dead.groups()

    assert {(g.definition, g.count, g.sentence) for g in groups} == {
        ("plain", 2, "OSError: boom"),
        ("other", 1, "OSError: no route"),
    }
    assert [g.definition for g in await engine.dead.groups(definition="other")] == ["other"]
    assert len(await engine.dead.groups(limit=1)) == 1
    assert await engine.dead.groups(scope=Scope.of("acme")) == []


async def test_a_recovered_group_is_gone(engine, fail):
    id = await fail()

    await engine.dead.retry(id)

    assert await engine.dead.groups() == []


async def test_a_group_is_retried_except_jobs_with_an_open_duplicate(engine, storage, fail):
    plain = [await fail() for _ in range(3)]
    held_back = await fail(dedupe_key="k")
    other = await fail(fingerprint="d" * 16)
    await enqueue(storage, dedupe_key="k")

    change = await engine.dead.retry_group("plain", CAUSE, actor="ada")

    assert (change.changed, change.skipped, change.more) == (3, 1, False)
    assert {await state_of(storage, id) for id in plain} == {JobState.QUEUED}
    assert await state_of(storage, held_back) is await state_of(storage, other)


async def test_no_more_of_a_group_is_retried_than_the_limit(engine, monkeypatch, fail):
    monkeypatch.setattr("windlass.engine.jobs.dead._BATCH", 2)
    for _ in range(5):
        await fail()

    first = await engine.dead.retry_group("plain", CAUSE, limit=3)
    rest = await engine.dead.retry_group("plain", CAUSE)

    assert (first.changed, first.more) == (3, True)
    assert (rest.changed, rest.more) == (2, False)
    with pytest.raises(OptionInvalid):
        await engine.dead.retry_group("plain", CAUSE, limit=0)


async def test_a_group_is_discarded_within_its_scope(engine, storage, fail):
    for _ in range(2):
        await fail()

    none = await engine.dead.discard_group("plain", CAUSE, scope=Scope.of("acme"))
    all_of_it = await engine.dead.discard_group("plain", CAUSE)

    assert (none.changed, all_of_it.changed, all_of_it.skipped) == (0, 2, 0)
    assert (await engine.dead.list()).jobs == []


async def test_one_job_is_discarded(engine, fail):
    id = await fail()

    await engine.dead.discard(id)

    with pytest.raises(JobNotFound):
        await engine.jobs.get(id)


async def test_an_edited_job_runs_again_and_its_history_shows_who_changed_what(
    engine, storage, clock, fail
):
    await a_definition(storage, "plain", payload_schema=SCHEMA, code_hash="2")
    id = await fail(payload='{"n": 1}')
    await clock.advance(LEASE_TIME)

    edited = await engine.dead.edit_retry(id, {"n": 2, "note": "hush"}, actor="ada")

    assert (edited.state, edited.payload) == (JobState.QUEUED, {"n": 2, "note": "hush"})
    last = (await engine.jobs.history(id))[-1]
    assert (last.actor, last.message) == ("ada", "retry, edited by ada: changed n; added note")


@pytest.mark.parametrize("wrong", [{"n": "two"}, {"note": "x"}, {"n": 1, "unknown": 1}, {}])
async def test_a_payload_that_does_not_fit_changes_nothing(engine, storage, fail, wrong):
    await a_definition(storage, "plain", payload_schema=SCHEMA, code_hash="2")
    id = await fail()

    with pytest.raises(PayloadInvalid):
        await engine.dead.edit_retry(id, wrong)

    after = await job(storage, id)
    assert (after.state, after.payload, after.fingerprint) == (
        JobState.DEAD_LETTER,
        {"n": 1},
        CAUSE,
    )
    with pytest.raises(OptionInvalid):
        await engine.dead.edit_retry(id, [1])


@pytest.mark.parametrize("state", [JobState.CANCELED, JobState.RUNNING, JobState.COMPLETED])
async def test_only_dead_lettered_jobs_are_edited(engine, storage, state):
    found = await a_job(storage, state)

    with pytest.raises(JobStateConflict):
        await engine.dead.edit_retry(found.id, {"n": 2})

    assert (await job(storage, found.id)).payload == {"n": 1}


async def test_a_key_derived_from_the_payload_follows_the_edit(engine, storage, fail):
    id = await fail(dedupe_key=payload_key("plain", {"n": 1}))
    twin = await fail(dedupe_key=payload_key("plain", {"n": 1}))
    named = await fail(dedupe_key="mine")

    await engine.dead.edit_retry(id, {"n": 2})
    await engine.dead.edit_retry(named, {"n": 3})
    with pytest.raises(DuplicateJob):
        await engine.dead.edit_retry(twin, {"n": 2})

    assert (await job(storage, id)).dedupe_key == payload_key("plain", {"n": 2})
    assert (await job(storage, named)).dedupe_key == "mine"
    assert await state_of(storage, twin) is JobState.DEAD_LETTER


def test_an_edit_is_recorded_without_values():
    told = edit_message({"a": "secret", "b": 1, "c": 1}, {"a": "other", "c": 1, "d": 2}, None)

    assert told == "retry, edited: changed a; added d; removed b"
    assert edit_message({"a": 1}, {"a": 1}, "ada") == "retry, edited by ada: nothing changed"
    assert len(edit_message({}, {f"field_{n}": n for n in range(1000)}, None)) <= 1000


def test_a_closed_schema_takes_only_its_fields():
    data = {"job_id": "1", "error": "boom"}

    assert fields_in_schema({"properties": {"error": {}}, "additionalProperties": False}, data) == {
        "error": "boom"
    }
    assert fields_in_schema({}, data) == data


async def test_a_hook_gets_one_job_that_describes_the_failure(engine, storage, fail, made):
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    id = await fail(definition="other", error="no route\nat all")

    [hook] = await made()

    assert (hook.definition, hook.source, hook.correlation_id) == ("plain", "event", str(id))
    assert (hook.payload["job_id"], hook.payload["error"]) == (str(id), "no route")
    [event] = await storage.triggers.events(ALL_TENANTS)
    assert hook.idempotency_key == f"event {event.id} hook"
    assert await engine.events.match(event.id) == 0
    assert len(await made()) == 1


async def test_a_hook_gets_only_the_fields_it_takes(engine, storage, fail, made):
    takes = '{"properties": {"error_type": {}, "attempts": {}}, "additionalProperties": false}'
    await a_definition(storage, "plain", payload_schema=takes, code_hash="2")
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    await fail(definition="other")

    [hook] = await made()

    assert hook.payload == {"error_type": "OSError", "attempts": 1}


async def test_a_job_whose_worker_was_lost_for_good_calls_the_hook_too(
    engine, storage, clock, made
):
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    lease = await started(storage, definition="other", max_attempts=1)
    await clock.advance(LEASE_TIME)
    [expired] = await engine.leases(worker=ALDER).expired()
    assert isinstance(expired, ExpiredLease)

    await engine.leases(worker=ALDER).reap([expired])

    [hook] = await made()
    dead = await job(storage, lease.job_id)
    assert (hook.payload["error_type"], dead.state) == ("WorkerLost", JobState.DEAD_LETTER)
    assert hook.payload["fingerprint"] == dead.fingerprint
    assert dead.fingerprint is not None


async def test_dead_lettered_jobs_fire_triggers_like_any_event(engine, storage, fail, made):
    payload = {"n": "{{event.attempts}}", "why": "{{event.error}}"}
    condition = {"error_type": {"in": ["OSError"]}}
    await engine.triggers.create(
        "tell", definition="other", event=DEAD_LETTERED, payload=payload, condition=condition
    )
    await fail()
    await fail(error_type="ValueError")

    [told] = await made()

    assert told.payload == {"n": 1, "why": "boom"}


async def test_a_hook_job_that_cannot_be_created_is_logged_and_the_job_ends(
    engine, storage, fail, made, heard
):
    await a_definition(storage, "other", on_dead_letter="nobody", code_hash="2")
    id = await fail(definition="other")

    assert await made() == []

    assert await state_of(storage, id) is JobState.DEAD_LETTER
    [about] = [about for _, event, about in heard.said if "on_dead_letter" in event]
    assert about["job_id"] == str(id)
    assert "nobody" in about["error"]
    assert await storage.triggers.unmatched_events() == []


async def test_a_hook_of_a_disabled_definition_is_logged(engine, storage, fail, made, heard):
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    await set_enabled(storage, "plain", False)
    await fail(definition="other")

    assert await made() == []

    assert any("on_dead_letter" in event for event in heard.events())


async def test_a_chain_of_failing_hooks_ends(engine, storage, made, heard):
    await a_definition(storage, "other", on_dead_letter="other", code_hash="2")
    await enqueue(storage, definition="other")

    for _ in range(DEEPEST + 3):
        await _fail_all(engine, storage)
        await made()

    assert len(await made()) == DEEPEST + 1
    assert "a chain of events was cut" in heard.events()


async def test_an_event_that_cannot_be_stored_does_not_stop_a_job_from_ending(
    engine, storage, fail
):
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    await storage.database.script(
        "create trigger refuse before insert on windlass_events "
        "begin select raise(abort, 'refused'); end"
    )

    id = await fail(definition="other")

    assert await state_of(storage, id) is JobState.DEAD_LETTER


async def test_only_windlass_emits_its_own_events(engine):
    with pytest.raises(OptionInvalid):
        engine.events.make(DEAD_LETTERED, {})


async def _fail_all(engine, storage):
    leases = await claim_all(storage)
    ends = [finish(lease, JobState.DEAD_LETTER, error="boom") for lease in leases]
    await engine.leases(worker=ALDER).finish(ends)
