"""Authorization over HTTP: every route, every role, and another tenant's objects."""

import pytest

from tests.api.authenticated_api import guarding
from windlass.core.access.principal import local
from windlass.core.access.roles import ROLES, Right, Role
from windlass.core.jobs.query import JobQuery

ROLES_OF_A_TENANT = ("tenant_admin", "user")


@pytest.fixture
async def guarded(wl):
    """An API that requires credentials, with a job to enqueue."""

    @wl.job
    def hello(name: str) -> str:
        return name

    async with guarding(wl) as guarded:
        yield guarded


def filled(path, values):
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", str(value))
    return path


async def test_without_a_credential_only_sign_in_is_available(guarded):
    for method, path, _ in guarded.routes():
        response = await guarded.client.request(method, filled(path, dict.fromkeys(IDS, "x" * 36)))

        assert response.status_code == 401, (method, path, response.text)
        assert response.headers["www-authenticate"] == "Bearer"


IDS = ("job_id", "id", "key", "name")


@pytest.mark.parametrize("role", ROLES_OF_A_TENANT)
async def test_another_tenants_objects_are_not_found(guarded, role):
    globex_things = await things_of(guarded.wl, "globex")
    token = await guarded.token(role, "acme")

    for method, path, route in guarded.routes():
        if route["x-right"] in ("none", "worker.work") or "{" not in path:
            continue
        if not set(IDS[:2]) & {parameter["name"] for parameter in route.get("parameters", ())}:
            continue
        noun = path.split("/")[3]
        foreign = await guarded.client.request(
            method, filled(path, globex_things.get(noun, {})), headers=token, json={}
        )
        unknown = await guarded.client.request(
            method, filled(path, dict.fromkeys(IDS, UNKNOWN)), headers=token, json={}
        )

        assert foreign.status_code in (401, 403, 404, 405, 422), (method, path, foreign.text)
        assert foreign.status_code == unknown.status_code, (method, path)
        assert foreign.json().get("code") == unknown.json().get("code"), (method, path)


UNKNOWN = "0190a5d0-0000-7000-8000-000000000000"


@pytest.mark.parametrize("role", ROLES_OF_A_TENANT)
async def test_lists_show_nothing_of_another_tenant(guarded, role):
    foreign = await things_of(guarded.wl, "globex")
    token = await guarded.token(role, "acme")
    del foreign["tenants"]  # the name is known to a caller who gives it
    secrets = {str(value) for values in foreign.values() for value in values.values()}

    for method, path, _ in guarded.routes():
        if method != "GET" or "{" in path or path.endswith("/stream"):
            continue
        for query in ("", "?tenant=globex"):
            response = await guarded.client.get(path + query, headers=token)

            assert not any(secret in response.text for secret in secrets), (path, response.text)
            assert query == "" or response.status_code == 404, (path, query, response.status_code)


@pytest.mark.parametrize("role", [*Role])
async def test_a_role_may_do_exactly_what_the_table_allows(guarded, role):
    tenant = None if role in (Role.SUPERADMIN, Role.WORKER) else "acme"
    token = await guarded.token(role, tenant)

    for method, path, route in guarded.routes():
        right = route["x-right"]
        if right == "none" or path.endswith("/stream"):
            continue
        response = await guarded.client.request(
            method, filled(path, dict.fromkeys(IDS, UNKNOWN)), headers=token, json={}
        )
        allowed = right in ROLES[role]

        if not allowed:
            assert response.status_code == 403, (method, path, response.status_code)
        elif role is not Role.USER:
            assert response.status_code != 403, (method, path, response.text)


async def test_a_user_sees_and_cancels_own_jobs_only(guarded):
    ada, bob = await guarded.token("user", "acme"), await guarded.token("tenant_admin", "acme")
    job = {"definition": "hello", "payload": {"name": "Ada"}}
    own = (await guarded.client.post("/api/v1/jobs", json=job, headers=ada)).json()["job"]["id"]
    other = (await guarded.client.post("/api/v1/jobs", json=job, headers=bob)).json()["job"]["id"]

    listed = (await guarded.client.get("/api/v1/jobs", headers=ada)).json()["items"]
    foreign = await guarded.client.get(f"/api/v1/jobs/{other}", headers=ada)
    refused = await guarded.client.post(f"/api/v1/jobs/{other}/cancel", headers=ada)
    canceled = await guarded.client.post(f"/api/v1/jobs/{own}/cancel", headers=ada)

    assert [each["id"] for each in listed] == [own]
    assert (foreign.status_code, refused.status_code) == (404, 404)
    assert canceled.json()["state"] == "canceled"


async def test_a_revoked_token_is_refused(guarded):
    admin = await guarded.token("superadmin")
    created = await guarded.client.post(
        "/api/v1/tokens", json={"name": "shop", "role": "user", "tenant": "acme"}, headers=admin
    )
    headers = {"authorization": f"Bearer {created.json()['secret']}"}
    before = await guarded.client.get("/api/v1/jobs", headers=headers)
    gone = await guarded.client.delete(f"/api/v1/tokens/{created.json()['id']}", headers=admin)
    after = await guarded.client.get("/api/v1/jobs", headers=headers)

    listed = await guarded.client.get("/api/v1/tokens", headers=admin)
    assert (created.status_code, before.status_code, gone.status_code) == (201, 200, 204)
    assert after.status_code == 401
    assert created.json()["secret"] not in listed.text


async def test_a_tenant_admin_cannot_grant_more_than_they_hold(guarded):
    headers = await guarded.token("tenant_admin", "acme")

    wide = await guarded.client.post(
        "/api/v1/tokens", json={"name": "x", "role": "superadmin"}, headers=headers
    )
    elsewhere = await guarded.client.post(
        "/api/v1/tokens", json={"name": "x", "role": "user", "tenant": "globex"}, headers=headers
    )

    assert wide.status_code in (403, 422)
    assert elsewhere.status_code == 404


async def test_changes_and_refusals_are_in_a_valid_audit_chain(guarded):
    admin = await guarded.token("superadmin")
    user = await guarded.token("user", "acme")
    await guarded.client.post("/api/v1/queues/mail/pause", json={}, headers=admin)
    await guarded.client.post("/api/v1/queues/mail/pause", json={}, headers=user)

    installation = (await guarded.client.get("/api/v1/audit", headers=admin)).json()["items"]
    acme = (await guarded.client.get("/api/v1/audit?tenant=acme", headers=admin)).json()["items"]
    whole = (await guarded.client.get("/api/v1/audit/verify", headers=admin)).json()

    assert (installation[0]["action"], installation[0]["outcome"]) == ("queues.pause", "allowed")
    assert (acme[0]["action"], acme[0]["outcome"]) == ("queues.pause", "refused")
    assert whole["whole"] is True


async def test_a_superadmin_verifies_every_chain_and_others_their_own(guarded):
    root = await guarded.token("superadmin")
    admin = await guarded.token("tenant_admin", "acme")
    await guarded.token("tenant_admin", "globex")
    get = guarded.client.get

    everything = (await get("/api/v1/audit/verify", headers=root)).json()
    own = (await get("/api/v1/audit/verify", headers=admin)).json()
    heads = (await get("/api/v1/audit/heads", headers=root)).json()["items"]
    of_acme = (await get("/api/v1/audit/heads", headers=admin)).json()["items"]
    in_python = await guarded.wl.audit.verify()

    assert [chain["tenant_id"] for chain in everything["chains"]] == [None, "acme", "globex"]
    assert everything["whole"] is True
    assert everything["signed"] is False
    assert [(chain.tenant, chain.entries) for chain in in_python.chains] == [
        (chain["tenant_id"], chain["entries"]) for chain in everything["chains"]
    ]
    assert [chain["tenant_id"] for chain in own["chains"]] == ["acme"]
    assert [head["tenant_id"] for head in heads] == [None, "acme", "globex"]
    assert of_acme == [heads[1]]


async def test_pinned_heads_are_verified_and_foreign_ones_unknown(guarded):
    root = await guarded.token("superadmin")
    admin = await guarded.token("tenant_admin", "acme")
    await guarded.token("tenant_admin", "globex")
    heads = (await guarded.client.get("/api/v1/audit/heads", headers=root)).json()["items"]
    later = [{**heads[1], "sequence": heads[1]["sequence"] + 1}]

    async def verify(pinned, headers):
        return await guarded.client.post(
            "/api/v1/audit/verify", json={"heads": pinned}, headers=headers
        )

    assert (await verify(heads, root)).json()["whole"] is True
    [acme] = (await verify(later, admin)).json()["chains"]
    assert "rolled back" in acme["broken"]["problem"]
    assert (await verify(heads, admin)).status_code == 404
    assert (await verify([{**heads[1], "hash": "x"}], root)).status_code == 422


async def test_a_tenant_admin_may_bulk_change_but_not_delete_jobs(guarded):
    admin = await guarded.token("tenant_admin", "acme")
    for tenant in ("acme", "globex"):
        await guarded.wl.enqueue("hello", {"name": "Ada"}, tenant=tenant)
    group = {"definition": "hello", "fingerprint": ""}

    begun = await guarded.client.post(
        "/api/v1/operations", json={"action": "cancel", "q": "definition:hello"}, headers=admin
    )
    refused = [
        await guarded.client.post(
            path, json={"action": "discard", "q": "definition:hello"}, headers=admin
        )
        for path in ("/api/v1/operations", "/api/v1/operations/preview")
    ]
    refused += [
        await guarded.client.post("/api/v1/dead/groups/discard", json=group, headers=admin),
        await guarded.client.delete(f"/api/v1/dead/{UNKNOWN}", headers=admin),
    ]

    assert (begun.status_code, begun.json()["total"]) == (201, 1)
    assert [(each.status_code, each.json()["code"]) for each in refused] == [(403, "WL5102")] * 4
    entries = (await guarded.client.get("/api/v1/audit", headers=admin)).json()["items"]
    _, *recorded = [(entry["action"], entry["outcome"]) for entry in reversed(entries)]
    assert recorded == [("operations.cancel", "allowed"), *[("jobs.discard", "refused")] * 4]
    acme = (await guarded.client.get("/api/v1/operations", headers=admin)).json()["items"]
    assert [each["id"] for each in acme] == [begun.json()["id"]]


async def test_session_cookies_are_unusable_from_other_sites(guarded):
    engine = await guarded.wl.ready()
    await engine.users.create(local(), "ada", password="correct horse battery", superadmin=True)
    here = {"origin": "http://api"}

    wrong = await guarded.client.post(
        "/api/v1/login", json={"name": "ada", "password": "wrong wrong wrong"}, headers=here
    )
    signed_in = await guarded.client.post(
        "/api/v1/login", json={"name": "ada", "password": "correct horse battery"}, headers=here
    )
    me = await guarded.client.get("/api/v1/whoami")
    forged = await guarded.client.post(
        "/api/v1/queues/mail/pause", json={}, headers={"origin": "http://evil.example"}
    )
    own = await guarded.client.post("/api/v1/queues/mail/pause", json={}, headers=here)
    await guarded.client.post("/api/v1/logout", headers=here)
    after = await guarded.client.get("/api/v1/whoami")

    assert (wrong.status_code, wrong.json()["code"]) == (401, "WL5103")
    assert "HttpOnly" in signed_in.headers["set-cookie"]
    assert me.json()["name"] == "ada"
    assert (forged.status_code, own.status_code, after.status_code) == (403, 200, 401)


async def things_of(wl, tenant):
    """Something of every noun that belongs to a tenant, by the names of path parameters."""
    receipt = await wl.enqueue("hello", {"name": "secret"}, tenant=tenant)
    trigger = await wl.triggers.create(
        "in", definition="hello", tenant=tenant, event="e", payload={"name": "x"}
    )
    schedule = await wl.schedules.create(
        "nightly", definition="hello", tenant=tenant, schedule="0 2 * * *", payload={"name": "x"}
    )
    event = await wl.emit("other", {}, tenant=tenant)
    engine = await wl.ready()
    created = await engine.tokens.create(local(), "theirs", role="user", tenant=tenant)
    begun = await engine.operations.create(
        local(), "cancel", JobQuery.of(states=["completed"]), query="", tenant=tenant
    )
    invited = await engine.members.invite(local(), tenant, f"somebody@{tenant}.example")
    joined = await engine.invitations.accept_as_new(invited.link.secret, "correct horse battery")
    return {
        "jobs": {"job_id": receipt.job_id},
        "dead": {"job_id": receipt.job_id},
        "triggers": {"id": trigger.id},
        "schedules": {"id": schedule.id},
        "events": {"id": event.id},
        "tokens": {"id": created.token.id},
        "operations": {"id": begun.id},
        "tenants": {"id": tenant},
        "members": {"id": joined.principal.id},
        "users": {"id": joined.principal.name},
    }


def test_each_right_is_required_by_a_route_and_each_route_uses_a_known_right(guarded):
    paths = guarded.app.openapi()["paths"].values()
    required = {route.get("x-right", "none") for methods in paths for route in methods.values()}

    # The tenant's own users enqueue by `jobs.enqueue`; `created_by` of the same route needs this one.
    assert required - {"none"} == {*Right} - {Right.JOBS_ENQUEUE_FOR}


async def test_running_a_schedule_manually_needs_its_right_and_is_audited(guarded):
    engine = await guarded.wl.ready()
    schedule = await engine.triggers.create(
        "nightly", definition="hello", tenant="acme", schedule="0 2 * * *", payload={"name": "Ada"}
    )
    path = f"/api/v1/schedules/{schedule.id}/run"
    fire = await guarded.token("tenant_admin", "acme", rights=["triggers.fire"])
    enqueue = await guarded.token("tenant_admin", "acme", rights=["jobs.enqueue"])
    user = await guarded.token("user", "acme")

    responses = [await guarded.client.post(path, headers=each) for each in (fire, enqueue, user)]

    assert [response.status_code for response in responses] == [201, 403, 403]
    entries = await engine.storage.access.entries("acme", most=10)
    fired = [each for each in entries if each.action == "triggers.fire"]
    assert sorted(each.outcome for each in fired) == ["allowed", "refused", "refused"]
