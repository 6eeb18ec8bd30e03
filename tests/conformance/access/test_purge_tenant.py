"""Purging a tenant: its rows are deleted from every table, and no others."""

import pytest

from tests.conformance.account_builders import (
    a_member,
    a_token,
    a_user,
    an_entry,
    an_operation,
    hash_of,
    invite,
)
from tests.conformance.triggers.test_triggers import a_trigger
from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    GLOBEX,
    a_tenant,
    end,
    enqueue,
    enqueue_child,
    held,
    lease_of,
    log_line,
    started,
    state_of,
)
from tests.support.principals import ROOT, cheap
from windlass import Settings
from windlass.core.jobs.models import Scope
from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import Observation
from windlass.core.monitoring.slots import StoredSlot
from windlass.core.triggers.trigger import Event
from windlass.engine.engine import Engine
from windlass.errors import TenantExists, TenantNotFound, TenantReserved
from windlass.ids import new_event_id
from windlass.telemetry import Telemetry

#: What a purge keeps: the record of what was done, the tenant's last entry included.
KEPT = {"windlass_audit", "windlass_audit_chains", "windlass_audit_heads"}
#: Where jobs are that have not ended; a purge waits for those that run.
OPEN = {"windlass_live", "windlass_later"}
#: Tables without a tenant of their own, whose rows belong to a job or an operation.
BELONGING = ("attempts", "transitions", "parents", "operation_items")

_TABLES = {
    "sqlite": "select m.name from sqlite_master m join pragma_table_info(m.name) c"
    " where m.type = 'table' and c.name = 'tenant_id'",
    "postgresql": "select t.table_name as name from information_schema.tables t"
    " join information_schema.columns c using (table_schema, table_name)"
    " where t.table_type = 'BASE TABLE' and c.column_name = 'tenant_id'"
    " and t.table_schema = current_schema()",
    "mysql": "select t.table_name as name from information_schema.tables t"
    " join information_schema.columns c using (table_schema, table_name)"
    " where t.table_type = 'BASE TABLE' and c.column_name = 'tenant_id'"
    " and t.table_schema = database()",
}


@pytest.fixture
def engine(storage):
    return Engine(storage, Settings(), Telemetry(), passwords=cheap())


async def tables(storage):
    """Every table with a tenant's rows."""
    found = await storage.database.query(_TABLES[storage.database.kind], {})
    return {row["name"] for row in found}


async def rows_in(storage, table, tenant=None):
    where = "" if tenant is None else " where tenant_id = :tenant"
    params = {} if tenant is None else {"tenant": tenant}
    [row] = await storage.database.query(f"select count(*) as n from {table}{where}", params)
    return row["n"]


async def furnish(storage, tenant):
    """Give a tenant a row in every table there is."""
    await a_tenant(storage, tenant)
    lease = await started(storage, tenant=tenant, dedupe_key="once", idempotency_key="once")
    await storage.leases.append_logs(ALDER, [log_line(lease, "sent")])
    await end(storage, held(lease), JobState.DEAD_LETTER)
    await storage.jobs.retry(Scope(tenant), lease.job_id, actor="ada")
    await end(storage, held(await lease_of(storage, lease.job_id)), once=("charge",))
    await enqueue_child(storage, lease.job_id, tenant=tenant)
    await storage.monitoring.roll_up_counts()
    await storage.monitoring.record_latency(
        [Observation("run", "default", "plain", 5, 1, 0.003, tenant)]
    )
    minute = await storage.monitoring.first_minute()
    await storage.monitoring.roll_up_slot(StoredSlot(900, minute), of_span=60)
    await storage.triggers.create_trigger(a_trigger(tenant=tenant))
    deleted = a_trigger(tenant=tenant, origin="code")
    await storage.triggers.create_trigger(deleted)
    await storage.triggers.delete_trigger(Scope(tenant), deleted.id)
    await storage.triggers.emit_event(Event(id=new_event_id(), tenant=tenant, name="a.b", data={}))
    await a_member(storage, await a_user(storage, f"member of {tenant}"), tenant)
    await invite(storage, f"invited to {tenant}", tenant)
    await storage.access.create_token(a_token(tenant=tenant), hash_of("t"))
    await storage.jobs.mute(Scope(tenant), "plain", "f" * 16)
    await storage.access.begin_idempotent_request(
        hash_of(tenant), hash_of("request"), tenant=tenant, holder="one", hold=DAY
    )
    await storage.jobs.create_operation(an_operation(tenant=tenant), [lease.job_id])
    await storage.access.append_audit_entry(an_entry(tenant))
    return lease.job_id


async def test_a_purge_removes_all_rows_of_the_tenant(storage, engine):
    rows_by_tenant = {tenant: await furnish(storage, tenant) for tenant in (ACME, GLOBEX)}
    for tenant in rows_by_tenant:
        await enqueue(storage, tenant=tenant)
    every = await tables(storage)
    before = {each: await rows_in(storage, each, ACME) for each in every - OPEN - KEPT}
    belonging = {each: await rows_in(storage, f"windlass_{each}") for each in BELONGING}
    of_globex = {each: await rows_in(storage, each, GLOBEX) for each in every}

    purged = await engine.tenants.purge(ACME, by=ROOT, request_id="r1")

    # A new table with tenants' rows needs a row in `furnish` and a statement in `purge_tenant`.
    assert {each for each, number in before.items() if not number} == set()
    left = {each: await rows_in(storage, each, ACME) for each in every - KEPT}
    assert {each: number for each, number in left.items() if number} == {}
    for each, number in belonging.items():
        assert await rows_in(storage, f"windlass_{each}") == number / 2, each
    changed = {each: await rows_in(storage, each, GLOBEX) for each in every}
    folded = {"windlass_deltas": 0, "windlass_counts": 0, "windlass_minutes": 0}
    assert changed | folded == of_globex | folded
    assert await state_of(storage, rows_by_tenant[GLOBEX]) is JobState.COMPLETED
    assert (purged.closed, purged.open, purged.more) == (2, 0, False)
    assert (purged.rows["jobs"], purged.rows["logs"]) == (3, 1)


async def test_a_purge_is_audited_with_actor_and_counts(storage, engine):
    await furnish(storage, ACME)

    purged = await engine.tenants.purge(ACME, by=ROOT, request_id="r1")

    [entry, *_] = await storage.access.entries(None)
    assert (entry.action, entry.target_id, entry.actor) == ("tenants.purge", ACME, ROOT.actor)
    assert (entry.request_id, dict(entry.after["rows"])) == ("r1", purged.rows)
    assert len(await storage.access.entries(ACME)) == 2
    assert (await engine.audit.verify_all()).whole


async def test_an_interrupted_purge_continues(storage, engine, monkeypatch):
    await a_tenant(storage, ACME)
    for _ in range(5):
        await end(storage, held(await started(storage, tenant=ACME)))
    monkeypatch.setattr("windlass.engine.access.tenants._PURGE_BATCHES", 1)

    calls = [await engine.tenants.purge(ACME)]
    while calls[-1].more:
        calls.append(await engine.tenants.purge(ACME))

    assert len(calls) > 1
    assert sum(each.rows.get("jobs", 0) for each in calls) == 5
    assert await rows_in(storage, "windlass_counts", ACME) == 0


async def test_a_purge_leaves_running_jobs_for_the_next_purge(storage, engine):
    await a_tenant(storage, ACME)
    await end(storage, held(await started(storage, tenant=ACME)))
    running = await started(storage, tenant=ACME, dedupe_key="once")

    first = await engine.tenants.purge(ACME)
    counted = await rows_in(storage, "windlass_keys", ACME)
    await end(storage, held(running), JobState.DEAD_LETTER)
    second = await engine.tenants.purge(ACME)

    assert (first.rows["jobs"], first.open, first.more, counted) == (1, 1, False, 1)
    assert (second.rows["jobs"], second.open, second.more) == (1, 0, False)
    assert await rows_in(storage, "windlass_keys", ACME) == 0
    assert await rows_in(storage, "windlass_counts", ACME) == 0


async def test_purge_batches_are_bounded(storage):
    await a_tenant(storage, ACME)
    for _ in range(3):
        await end(storage, held(await started(storage, tenant=ACME)))
        await storage.access.create_token(a_token(tenant=ACME), hash_of("t"))

    assert (await storage.access.purge_tenant_jobs(ACME, most=2))["jobs"] == 2
    assert (await storage.access.purge_tenant_jobs(ACME, most=2))["jobs"] == 1
    while any((rows := await storage.access.purge_tenant(ACME, most=1)).values()):
        assert max(rows.values()) == 1


async def test_an_operation_with_many_jobs_is_purged_in_batches(storage, engine):
    await a_tenant(storage, ACME)
    ids = [await enqueue(storage, tenant=ACME) for _ in range(3)]
    await storage.jobs.create_operation(an_operation(tenant=ACME), ids)
    await storage.access.delete_tenant(ACME)

    removed = []
    while any((rows := await storage.access.purge_tenant(ACME, most=2)).values()):
        removed.append((rows["operation_items"], rows["operations"]))

    assert removed[:3] == [(2, 0), (1, 0), (0, 1)]
    await engine.tenants.purge(ACME)


async def test_only_the_id_of_a_purged_tenant_remains(storage, engine):
    await engine.tenants.create(ACME, name="Acme of Springfield", weight=3)

    await engine.tenants.purge(ACME)

    [left] = [each for each in await storage.access.tenants() if each.id == ACME]
    assert (left.name, left.state, left.weight) == (ACME, "deleted", 1)
    with pytest.raises(TenantExists) as refused:
        await engine.tenants.create(ACME)
    assert refused.value.deleted
    with pytest.raises(TenantNotFound):
        await engine.tenants.purge("unheard")


async def test_creating_an_existing_tenant_neither_resets_nor_revives_it(storage, engine):
    await engine.tenants.create(ACME, weight=3)
    await engine.tenants.suspend(ACME)

    for id in (ACME, "default", "system"):
        with pytest.raises(TenantExists):
            await engine.tenants.create(id)
    suspended = await engine.tenants.get(ACME)
    await engine.tenants.resume(ACME)

    assert (suspended.state, suspended.weight) == ("suspended", 3)
    assert (await engine.tenants.get(ACME)).state == "active"
    await engine.tenants.delete(ACME)
    for verb in (engine.tenants.resume, engine.tenants.delete, engine.tenants.get):
        with pytest.raises(TenantNotFound):
            await verb(ACME)


@pytest.mark.parametrize("id", ["default", "system"])
async def test_built_in_tenants_cannot_be_deleted(storage, engine, id):
    for verb in (engine.tenants.delete, engine.tenants.purge):
        with pytest.raises(TenantReserved):
            await verb(id)

    assert {tenant.state for tenant in await storage.access.tenants()} == {"active"}
