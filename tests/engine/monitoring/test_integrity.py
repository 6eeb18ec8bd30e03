"""Integrity: damage done past the product is found and named, and sound data has none."""

import sqlite3
from contextlib import closing

import pytest

from tests.databases import migrate
from tests.databases.connect import execute
from tests.databases.kinds import requested_kinds
from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    HOUR,
    a_job,
    end,
    enqueue,
    enqueue_child,
    release,
    started,
)
from windlass.core.jobs.states import JobState
from windlass.engine.monitoring.integrity import RULES, Integrity
from windlass.storage.storage import open_storage

_FAR = {"sqlite": "9000000000000000"}


async def queued(storage):
    return await enqueue(storage)


async def delayed(storage):
    return await enqueue(storage, delay=HOUR)


async def pending(storage):
    return await enqueue_child(storage, await enqueue(storage), held=True)


async def running(storage):
    return (await started(storage)).job_id


async def limited(storage):
    return (await started(storage, definition="limited")).job_id


async def tried(storage):
    lease = await started(storage)
    await storage.leases.finish(ALDER, [release(lease, delay=HOUR)])
    return lease.job_id


async def completed(storage):
    lease = await started(storage)
    await end(storage, lease)
    return lease.job_id


async def deduped(storage):
    return await enqueue(storage, dedupe_key="only one")


async def repeatable(storage):
    return await enqueue(storage, idempotency_key="once")


#: Rule and table; the job that is damaged, and how.
DAMAGE = [
    ("state", "live", running, "update windlass_live set state = 'completed' where id = '{id}'"),
    ("state", "later", delayed, "update windlass_later set state = 'running' where id = '{id}'"),
    ("state", "ended", completed, "update windlass_ended set state = 'queued' where id = '{id}'"),
    ("lease", "live", running, "update windlass_live set worker_id = null where id = '{id}'"),
    (
        "lease-left",
        "later",
        delayed,
        "update windlass_later set lease_expires_at = due_at where id = '{id}'",
    ),
    (
        "lease-left",
        "ended",
        completed,
        "update windlass_ended set lease_expires_at = due_at where id = '{id}'",
    ),
    (
        "lease-time",
        "live",
        running,
        "update windlass_live set lease_expires_at = {far} where id = '{id}'",
    ),
    ("due-time", "later", delayed, "update windlass_later set due_at = {far} where id = '{id}'"),
    ("due-time", "live", queued, "update windlass_live set due_at = {far} where id = '{id}'"),
    (
        "attempts",
        "live",
        running,
        "update windlass_live set attempts = max_attempts + 1 where id = '{id}'",
    ),
    (
        "token",
        "later",
        tried,
        "update windlass_attempts set number = number + 100 where job_id = '{id}'",
    ),
    ("end", "live", queued, "update windlass_live set finished_at = due_at where id = '{id}'"),
    ("end", "ended", completed, "update windlass_ended set finished_at = null where id = '{id}'"),
    ("waits", "live", queued, "update windlass_live set queued_at = null where id = '{id}'"),
    ("waits", "later", pending, "update windlass_later set waits = waits + 1 where id = '{id}'"),
    ("parents", "parents", pending, "delete from windlass_later where id = '{id}'"),
    ("hold-missing", "live", limited, "delete from windlass_holds where job_id = '{id}'"),
    ("hold-left", "holds", limited, "delete from windlass_live where id = '{id}'"),
    (
        "dedupe-key",
        "live",
        deduped,
        "update windlass_keys set kind = 'idempotency' where job_id = '{id}'",
    ),
    (
        "idempotency-key",
        "live",
        repeatable,
        "delete from windlass_keys where job_id = '{id}'",
    ),
    ("key-left", "keys", deduped, "delete from windlass_live where id = '{id}'"),
    ("attempt-left", "attempts", tried, "delete from windlass_later where id = '{id}'"),
    (
        "tenant",
        "ended",
        completed,
        "update windlass_ended set tenant_id = 'nobody' where id = '{id}'",
    ),
]
_TWICE = (
    "update windlass_ended set source = '{source}', source_ref = 'e1', trigger_due_at = {due}, "
    "trigger_id = '00000000-0000-7000-8000-000000000001' where id in ({ids})"
)


@pytest.fixture
async def storage(database):
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


def damage(database, statement):
    """Change the data as no statement of the product would, past its constraints."""
    if database.kind != "sqlite":
        execute(database.url, statement)
        return
    with closing(sqlite3.connect(database.url.removeprefix("sqlite:///"))) as file, file:
        file.execute("pragma ignore_check_constraints = on")
        file.execute(statement)


async def test_sound_data_has_no_violation(storage):
    for make in {make for _, _, make, _ in DAMAGE}:
        await make(storage)
    for state in JobState:
        await a_job(storage, state)

    assert await Integrity(storage).check() == []


@pytest.fixture(
    params=[pytest.param(kind, marks=pytest.mark.database(kind)) for kind in requested_kinds()]
)
def unguarded(request, new_database):
    """A database of its own whose tables take any state: other tests need theirs to refuse some."""
    database = new_database(request.param)
    migrate(database.url)
    if database.kind != "sqlite":
        for table in ("live", "later", "ended"):
            name = f"windlass_{table}"
            execute(database.url, f"alter table {name} drop constraint {name}_state")
    return database


async def test_every_violation_is_reported_with_its_job(unguarded):
    database = unguarded
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    expected = []
    for number, (rule, table, make, statement) in enumerate(DAMAGE):
        if make in (deduped, repeatable):
            key = "dedupe_key" if make is deduped else "idempotency_key"
            id = await enqueue(storage, **{key: f"key {number}"})
        else:
            id = await make(storage)
        far = _FAR.get(database.kind, "'2200-01-01'")
        damage(database, statement.format(id=id, far=far))
        expected.append((rule, f"windlass_{table}", str(id)))
    for source in ("schedule", "event"):
        ids = ", ".join([f"'{await completed(storage)}'" for _ in range(2)])
        due = 1 if database.kind == "sqlite" else "'2026-01-01'"
        damage(database, _TWICE.format(source=source, ids=ids, due=due))
    await limited(storage)
    execute(database.url, "update windlass_limits set max_running = 0")
    both = await completed(storage)
    id = await delayed(storage)
    damage(database, f"update windlass_later set id = '{both}' where id = '{id}'")
    expected.append(("one-row", "windlass_later", str(both)))

    found = [(each.rule, each.table, each.id) async for each in storage.monitoring.violations()]

    assert [each for each in expected if each not in found] == []
    assert {rule for rule, _, _ in found} == set(RULES)
    await storage.close()


async def test_violations_of_other_tenants_are_left_out(storage, database):
    id = await running(storage)
    damage(database, f"update windlass_live set worker_id = null where id = '{id}'")

    assert await Integrity(storage).check("somebody else") == []
    [found] = await Integrity(storage).check("default")
    assert (found.rule, found.found, found.ids) == ("lease", 1, [str(id)])


async def test_damage_beyond_the_first_rows_is_found(storage, database, monkeypatch):
    monkeypatch.setattr("windlass.storage.monitoring.integrity._STEP", 2)
    ids = [await delayed(storage) for _ in range(5)]
    damage(database, f"update windlass_later set lease_expires_at = due_at where id = '{ids[-1]}'")

    [found] = await Integrity(storage).check()

    assert found.ids == [str(ids[-1])]
