"""Refusals, their audit entries, and the isolation of tenants."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.job_builders import enqueue, job
from tests.support.principals import ACME, ANONYMOUS, GLOBEX, ROOT, admin, an_engine, person
from windlass.core.access.audit import Target
from windlass.core.access.principal import Membership, Principal
from windlass.core.access.roles import Reach, Right, Role, freeze_roles
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import Scope
from windlass.core.jobs.query import JobQuery
from windlass.engine.access.authorization import within
from windlass.engine.engine import Engine
from windlass.errors import Forbidden, JobNotFound, NotAuthenticated, TenantNotFound, WindlassError
from windlass.ids import DefinitionKey, new_job_id
from windlass.telemetry import Telemetry
from windlass.upkeep.bulk_operations import OperationRunner

JOB = Target("job", "1")


@pytest.fixture
async def engine(storage, heard):
    return await an_engine(storage, heard)


async def test_a_refused_change_leaves_an_entry_in_the_principals_chain(engine, storage):
    user = person(Role.USER)

    with pytest.raises(Forbidden):
        await engine.access.allow(user, Right.JOBS_DISCARD, JOB, request_id="r-1")
    with pytest.raises(TenantNotFound):
        await engine.access.allow(user, Right.JOBS_CANCEL, JOB, tenant=GLOBEX)
    with pytest.raises(Forbidden):
        await engine.access.allow_installation(user, Right.QUEUES_PAUSE, Target("queue", "mail"))

    paused, canceled, discarded = await storage.access.entries(ACME)
    assert (discarded.actor, discarded.outcome, discarded.request_id) == (
        user.actor,
        "refused",
        "r-1",
    )
    assert (canceled.action, paused.target_id) == (Right.JOBS_CANCEL, "mail")
    assert await storage.access.entries(GLOBEX) == []


async def test_a_refused_enqueue_leaves_an_entry(engine, storage):
    with pytest.raises(Forbidden):
        await engine.access.allow(person(Role.WORKER, None), Right.JOBS_ENQUEUE, JOB)

    [entry] = await storage.access.entries(None)
    assert (entry.action, entry.outcome) == ("jobs.enqueue", "refused")


async def test_refused_reads_and_anonymous_callers_leave_no_entry(engine, storage):
    with pytest.raises(Forbidden):
        await engine.access.allow(person(Role.USER), Right.AUDIT_READ, JOB)
    with pytest.raises(Forbidden):
        await engine.access.allow(ANONYMOUS, Right.JOBS_CANCEL, JOB)

    assert await storage.access.audit_chains() == []


async def test_principals_without_a_tenant_are_recorded_in_the_installations_chain(engine, storage):
    with pytest.raises(Forbidden):
        await engine.access.allow(replace(admin(), memberships=()), Right.JOBS_CANCEL, JOB)

    assert len(await storage.access.entries(None)) == 1


async def test_another_users_job_looks_like_an_unknown_one(engine, storage):
    user = person(Role.USER)
    mine = await job(storage, await enqueue(storage, tenant=ACME, created_by=user.actor))
    theirs = await job(storage, await enqueue(storage, tenant=ACME, created_by="user:x"))
    bounds = await engine.access.allow(user, Right.JOBS_CANCEL, JOB)

    assert within(bounds, mine, mine.id) is mine
    unknown = new_job_id()
    answers = []
    for asked in (lambda: within(bounds, theirs, unknown), lambda: None):
        try:
            asked()
            await engine.jobs.get(unknown, bounds.scope)
        except JobNotFound as error:
            answers.append(str(error))

    assert answers[0] == answers[1]


def definition(**about):
    return Definition(key=DefinitionKey("export"), title="Export", **about)


async def test_what_a_definition_requires_is_checked_on_submission(engine):
    user = person(Role.USER)
    given = replace(user, memberships=(Membership(ACME, Role.USER, frozenset({"exports"})),))
    asked = definition(requires_permission="exports")
    engine.definitions.declare(asked)
    await engine.definitions.sync()

    async def require(by, tenant=ACME):
        target = Target("job")
        await engine.enqueue_rights.require(by, asked.key, tenant, Right.JOBS_ENQUEUE, target)

    with pytest.raises(Forbidden) as told:
        await require(user)
    assert "exports" in str(told.value)
    await require(given)
    await require(ROOT)
    await require(None)
    with pytest.raises(Forbidden):
        await require(given, GLOBEX)


async def test_an_embedding_programs_own_roles_hold_everywhere(storage, heard, engine):
    table = freeze_roles({"auditor": {Right.AUDIT_READ: Reach.TENANT}})
    own = Engine(storage, engine.settings, Telemetry(heard), roles=table)

    assert (await own.audit.list(person("auditor"))).entries == []
    with pytest.raises(Forbidden):
        await own.audit.list(admin())
    with pytest.raises(Forbidden):
        await own.tokens.create(ROOT, "x", role="auditor", tenant=ACME)


async def test_unknown_credentials_are_refused(engine):
    for text in ("", "wls_", "wls_" + "a" * 43, "Bearer x"):
        with pytest.raises(NotAuthenticated):
            await engine.access.authenticate_session(text)
        with pytest.raises(NotAuthenticated):
            await engine.access.authenticate_token(text)


# No sequence of verbs lets a principal of one tenant read or change anything of another.

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["token", "use", "members", "invite", "remove", "tokens", "audit", "bulk", "operations"]
        ),
        st.sampled_from([None, "acme", "globex", "system"]),
        st.sampled_from([*Role]),
        st.none() | st.frozensets(st.sampled_from(list(Right)), max_size=6),
    ),
    max_size=12,
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(role=st.sampled_from([Role.TENANT_ADMIN, Role.USER]), steps=STEPS)
async def test_no_sequence_of_verbs_reaches_another_tenant(engine, storage, role, steps):
    foreign = await job(storage, await enqueue(storage, tenant=GLOBEX))
    await engine.members.invite(ROOT, GLOBEX, "gwen")
    await engine.tokens.create(ROOT, "theirs", tenant=GLOBEX)
    before = await _of_globex(engine, storage)
    principals = [person(role)]

    for verb, tenant, wanted, rights in steps:
        by = principals[-1]
        try:
            seen = await _step(engine, storage, by, verb, tenant, wanted, rights)
        except WindlassError:
            continue
        if isinstance(seen, Principal):
            principals.append(seen)
        else:
            assert all(getattr(each, "tenant", ACME) == ACME for each in seen)

    assert await _of_globex(engine, storage) == before
    assert await job(storage, foreign.id) == foreign
    assert all(by.tenants == {ACME} and not by.installation_wide for by in principals)


async def _step(engine, storage, by, verb, tenant, role, rights):
    match verb:
        case "token" | "use":
            made = await engine.tokens.create(by, "made", role=role, tenant=tenant, rights=rights)
            return await engine.access.authenticate_token(made.secret)
        case "members":
            return await engine.members.list(by, tenant=tenant)
        case "invite":
            return [(await engine.members.invite(by, tenant or "globex", "eve", role=role)).member]
        case "remove":
            await engine.members.remove(by, tenant or "globex", "gwen")
            return []
        case "tokens":
            found = await engine.tokens.list(by, tenant=tenant)
            for token in await engine.tokens.list(ROOT, tenant=GLOBEX):
                await engine.tokens.revoke(by, token.id, tenant=tenant)
            return found
        case "audit":
            return (await engine.audit.list(by, tenant=tenant)).entries
        case "bulk":
            made = await engine.operations.create(by, "cancel", JobQuery(), query="", tenant=tenant)
            await OperationRunner(engine).tick()
            return [made]
        case _:
            return await engine.operations.list(by, tenant=tenant)


async def _of_globex(engine, storage):
    return (
        await engine.members.list(ROOT, tenant=GLOBEX),
        await engine.tokens.list(ROOT, tenant=GLOBEX),
        await storage.access.entries(GLOBEX),
        await engine.operations.list(ROOT, tenant=GLOBEX),
        [j.state for j in (await storage.jobs.page(Scope(GLOBEX), JobQuery())).jobs],
    )
