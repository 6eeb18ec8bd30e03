"""Row security: tenants stay separated even where a query lacks its tenant filter."""

import asyncio
import secrets
from urllib.parse import urlsplit

import asyncpg
import psycopg
import pytest

from tests.api.access.test_invitations import (  # noqa: F401  they cross tenants, with row security too
    test_an_administrator_returns_a_taken_name_to_its_owner,
    test_an_earlier_invitee_gains_no_rights_given_to_the_name_later,
)
from tests.api.access.test_roles import (  # noqa: F401  the same matrix, with row security
    guarded,
    test_a_revoked_token_is_refused,
    test_a_role_may_do_exactly_what_the_table_allows,
    test_a_tenant_admin_cannot_grant_more_than_they_hold,
    test_a_user_sees_and_cancels_own_jobs_only,
    test_another_tenants_objects_are_not_found,
    test_changes_and_refusals_are_in_a_valid_audit_chain,
    test_lists_show_nothing_of_another_tenant,
    test_session_cookies_are_unusable_from_other_sites,
    things_of,
)
from tests.api.authenticated_api import guarding
from tests.databases.connect import execute
from tests.support.job_builders import new_job
from windlass import Settings, Windlass
from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.http_routes import SafeRoute
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import JobQuery
from windlass.errors import WindlassError
from windlass.settings import AuditSettings, DatabaseSettings
from windlass.tasks import all_tenants, bind_tenant, bound_tenant

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)

ON = Settings(database=DatabaseSettings(row_security=True))


@pytest.fixture
async def owner(database):
    """An app connected as the tables' owner, to whom no policy applies."""
    app = Windlass(database.url, settings=Settings())
    yield app
    await app.close()


@pytest.fixture
async def held(database, owner):
    """The URL of a role that owns no table."""
    name, password = f"api_{secrets.token_hex(4)}", secrets.token_hex(8)
    execute(database.url, f"create role {name} login password '{password}'")
    await owner.engine.schema.secure(role=name)
    at = urlsplit(database.url)
    place = at.netloc.rpartition("@")[2]
    yield at._replace(netloc=f"{name}:{password}@{place}").geturl()
    await owner.engine.schema.secure(off=True)
    execute(database.url, f"drop owned by {name}")
    execute(database.url, f"drop role {name}")


@pytest.fixture
async def wl(held):
    app = Windlass(held, settings=ON)
    yield app
    await app.close()


@pytest.fixture
async def storage(guarded):  # noqa: F811  the fixture
    for tenant in ("acme", "globex"):
        await things_of(guarded.wl, tenant)
    return (await guarded.wl.ready()).storage


async def as_acme(work):
    """Work of a request of acme's."""

    async def request():
        bind_tenant("acme")
        return await work

    return await asyncio.create_task(request())


async def unbound(work):
    return await work


async def test_a_route_without_a_tenant_filter_shows_no_foreign_rows(guarded, storage):  # noqa: F811
    async def forgetful(caller: CurrentCaller, engine: ReadyEngine) -> list[str]:
        page = await engine.storage.jobs.page(ALL_TENANTS, JobQuery())
        return [job.tenant for job in page.jobs]

    guarded.app.router.routes.append(
        SafeRoute("/forgetful", forgetful, response_model=None, tags=["jobs"])
    )

    seen = [
        (await guarded.client.get("/forgetful", headers=await guarded.token(*who))).json()
        for who in (("tenant_admin", "acme"), ("user", "globex"), ("superadmin",))
    ]

    assert seen == [["acme"], ["globex"], ["globex", "acme"]]


AUDIT_RIGHTS = {
    "audit": {"select", "insert"},
    "audit_chains": {"select", "insert"},
    "audit_heads": {"select", "insert", "update"},
    "audit_registry": {"select", "insert", "update"},
}


async def test_the_server_role_can_only_append_to_the_audit(owner, held, database):
    role = urlsplit(held).username
    execute(database.url, f"grant all on windlass_audit to {role}")
    await owner.engine.schema.secure(role=role)

    for table, expected in AUDIT_RIGHTS.items():
        found = {
            right
            for right in ("select", "insert", "update", "delete", "truncate")
            if execute(
                database.url,
                f"select has_table_privilege('{role}', 'windlass_{table}', '{right}')",
            )[0][0]
        }
        assert found == expected, table
    for statement in ("update windlass_audit set actor = 'eve'", "delete from windlass_audit"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(held, statement)


async def test_a_restricted_server_signs_chains_that_its_tenants_start(held):
    keyed = Settings(
        database=DatabaseSettings(row_security=True), audit=AuditSettings(key="k" * 32)
    )
    wl = Windlass(held, settings=keyed)
    try:
        async with guarding(wl) as guarded:
            admin = await guarded.token("tenant_admin", "acme")
            root = await guarded.token("superadmin")
            created = await guarded.client.post(
                "/api/v1/tokens", json={"name": "x", "role": "user"}, headers=admin
            )
            own = await guarded.client.get("/api/v1/audit/verify", headers=admin)
            report = await guarded.client.get("/api/v1/audit/verify", headers=root)
    finally:
        await wl.close()

    assert created.status_code == 201
    assert own.json()["whole"] is True
    assert report.json()["whole"] is True
    assert {chain["head"] for chain in report.json()["chains"]} == {"valid"}


READS = {
    "jobs": lambda s: s.jobs.page(ALL_TENANTS, JobQuery()),
    "triggers": lambda s: s.triggers.triggers(ALL_TENANTS),
    "events": lambda s: s.triggers.events(ALL_TENANTS),
    "tokens": lambda s: s.access.tokens(ALL_TENANTS),
    "tenants": lambda s: s.access.tenants(),
    "counts": lambda s: s.jobs.state_counts(ALL_TENANTS),
}


def tenants_in(found):
    rows = getattr(found, "jobs", found)
    return {_tenant(row) for row in rows}


def _tenant(row):
    for name in ("tenant", "id"):
        if hasattr(row, name):
            return str(getattr(row, name))
    return row["tenant_id"]


@pytest.mark.parametrize("noun", READS)
async def test_a_verb_without_a_tenant_filter_returns_no_foreign_rows(storage, noun):
    visible = await as_acme(READS[noun](storage))
    everything = await READS[noun](storage)

    assert tenants_in(visible) == {"acme"}
    assert {"acme", "globex"} <= tenants_in(everything)


async def test_another_tenants_job_is_not_found(storage, wl):
    receipt = await wl.enqueue("hello", {"name": "secret"}, tenant="globex")
    job = await wl.jobs.get(receipt.job_id)

    visible = [
        await as_acme(storage.jobs.get(ALL_TENANTS, job.id)),
        await as_acme(storage.jobs.find(ALL_TENANTS, job.id.hex[-12:])),
        await as_acme(storage.jobs.cancel(ALL_TENANTS, [job.id])),
    ]

    assert [bool(each) for each in visible] == [False] * 3
    assert await storage.jobs.find(ALL_TENANTS, job.id.hex[-12:]) == [job.id]


async def test_another_tenants_job_record_is_not_found(storage, wl, database):
    job = await wl.jobs.get((await wl.enqueue("hello", {"name": "x"}, tenant="globex")).job_id)
    execute(
        database.url,
        f"insert into windlass_attempts (job_id, number, started_at, finished_at, outcome) "
        f"values ('{job.id}', 1, now(), now(), 'failed'); "
        f"insert into windlass_transitions (job_id, at, from_state, to_state) "
        f"values ('{job.id}', now(), 'canceled', 'queued')",
    )

    seen = [
        (len(await who(storage.jobs.attempts(job))), len(await who(storage.jobs.transitions(job))))
        for who in (as_acme, unbound)
    ]

    assert seen == [(0, 0), (1, 1)]


async def test_writes_for_another_tenant_are_refused(wl, storage):
    with pytest.raises((WindlassError, asyncpg.InsufficientPrivilegeError)):
        await as_acme(wl.enqueue("hello", {"name": "x"}, tenant="globex"))

    found = await storage.jobs.page(Scope.of("globex"), JobQuery())
    assert len(found.jobs) == 1


async def test_a_connection_is_rebound_for_each_tenant(storage):
    jobs = READS["jobs"]

    visible = [tenants_in(await as_acme(jobs(storage))), tenants_in(await jobs(storage))]
    at_once = await asyncio.gather(
        *[as_acme(jobs(storage)) for _ in range(20)], *[jobs(storage) for _ in range(20)]
    )

    assert visible == [{"acme"}, {"acme", "globex"}]
    assert [tenants_in(each) for each in at_once] == [{"acme"}] * 20 + [{"acme", "globex"}] * 20


async def test_an_unbound_connection_sees_nothing(held, storage):
    assert execute(held, "select count(*) from windlass_jobs") == [(0,)]
    assert execute(held, "select count(*) from windlass_tokens") == [(0,)]


async def test_jobs_of_tenants_run_under_row_security(guarded):  # noqa: F811
    token = await guarded.token("tenant_admin", "acme")
    body = {"definition": "hello", "payload": {"name": "Ada"}}
    job = (await guarded.client.post("/api/v1/jobs", json=body, headers=token)).json()["job"]["id"]

    async with guarded.wl.running():
        await guarded.wl.jobs.wait(job, "30s")
    shown = (await guarded.client.get(f"/api/v1/jobs/{job}", headers=token)).json()
    attempts = (await guarded.client.get(f"/api/v1/jobs/{job}/attempts", headers=token)).json()

    assert (shown["state"], shown["result"]) == ("completed", "Ada")
    assert len(attempts["items"]) == 1


async def test_large_batches_are_stored_under_row_security(guarded):  # noqa: F811
    storage = (await guarded.wl.ready()).storage
    jobs = [new_job(definition="hello", tenant="acme") for _ in range(150)]

    stored = await as_acme(storage.jobs.enqueue(jobs))

    assert {each.status for each in stored} == {"created"}


async def test_a_role_that_bypasses_policies_is_reported(owner, database, held):
    unsafe = Windlass(database.url, settings=ON)
    unasked = Windlass(held, settings=Settings())
    try:
        [as_superuser] = await warned(unsafe)
        [without] = await warned(unasked)
        await owner.engine.schema.secure(off=True)
        _, no_policies = await warned(unsafe)
        none = await warned(unasked)
    finally:
        await unsafe.close()
        await unasked.close()

    assert "is a superuser" in as_superuser
    assert "sees no rows" in without
    assert "windlass db secure" in no_policies
    assert "windlass_attempts" in no_policies
    assert none == []


async def warned(app):
    """The doctor's checks of row security."""
    return [text for text in await app.engine.storage.database.warnings() if "row" in text]


async def test_row_security_for_a_non_owner_role_gives_no_warning(wl):
    assert await warned(wl) == []


async def test_installation_wide_work_bypasses_row_security(wl):
    bind_tenant("acme")

    with all_tenants():
        inside = bound_tenant()

    assert (inside, bound_tenant()) == (None, "acme")
    bind_tenant(None)


async def test_a_global_mute_is_visible_to_tenants_and_read_only(storage):
    for scope in (ALL_TENANTS, Scope.of("acme"), Scope.of("globex")):
        await storage.jobs.mute(scope, "hello", "x")

    seen = await as_acme(storage.jobs.mutes(Scope.of("globex")))
    await as_acme(storage.jobs.unmute(ALL_TENANTS, "hello", "x"))
    await as_acme(storage.jobs.unmute(Scope.of("globex"), "hello", "x"))
    with pytest.raises((WindlassError, asyncpg.InsufficientPrivilegeError)):
        await as_acme(storage.jobs.mute(ALL_TENANTS, "hello", "x", by="acme"))
    await as_acme(storage.jobs.mute(Scope.of("acme"), "hello", "x", by="ada"))

    assert [mute.tenant for mute in seen] == [None]
    left = [await storage.jobs.mutes(Scope.of(tenant)) for tenant in ("acme", "globex")]
    assert [[(mute.tenant, mute.muted_by) for mute in each] for each in left] == [
        [(None, None), ("acme", "ada")],
        [(None, None), ("globex", None)],
    ]


async def test_a_waiting_job_is_updated_under_row_security_for_its_tenant_only(guarded):  # noqa: F811
    token = await guarded.token("tenant_admin", "acme")
    ids = [
        (await guarded.wl.enqueue("hello", {"name": "x"}, tenant=tenant)).job_id
        for tenant in ("acme", "globex")
    ]
    body = {"queue": "mail", "delay_seconds": 60}

    own, foreign = [
        await guarded.client.patch(f"/api/v1/jobs/{id}", json=body, headers=token) for id in ids
    ]
    steps = await guarded.client.get(f"/api/v1/jobs/{ids[0]}/history", headers=token)

    assert (own.status_code, foreign.status_code) == (200, 404)
    assert own.json()["queue"] == "mail"
    assert len(steps.json()["items"]) == 2
