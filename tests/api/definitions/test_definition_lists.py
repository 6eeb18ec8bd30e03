"""Visibility of definitions: users see what they may enqueue, only superadmins system ones."""

import pytest

from tests.api.authenticated_api import guarding

KEYS = ["hello", "refund", "tidy"]


@pytest.fixture
async def guarded(wl):
    @wl.job
    def hello() -> None: ...

    @wl.job(requires_permission="billing")
    def refund() -> None: ...

    @wl.job(system=True)
    def tidy() -> None: ...

    async with guarding(wl) as guarded:
        yield guarded


async def seen(guarded, who, query=""):
    listed = await guarded.client.get(f"/api/v1/definitions?system=true{query}", headers=who)
    one_by_one = [
        key
        for key in KEYS
        if (await guarded.client.get(f"/api/v1/definitions/{key}?{query}", headers=who)).status_code
        == 200
    ]
    found = [each["key"] for each in listed.json()["items"]]
    assert [key for key in found if key in KEYS] == one_by_one
    return one_by_one


async def test_a_user_sees_only_definitions_they_may_enqueue(guarded):
    user = await guarded.token("user", "acme")
    trusted = await guarded.token("user", "acme", permissions=["billing"])

    assert await seen(guarded, user) == ["hello"]
    assert await seen(guarded, trusted) == ["hello", "refund"]


async def test_a_tenant_admin_sees_all_but_system_definitions(guarded):
    admin = await guarded.token("tenant_admin", "acme")
    reader = await guarded.token("tenant_admin", "acme", rights=["definitions.read", "jobs.read"])

    assert await seen(guarded, admin) == ["hello", "refund"]
    assert await seen(guarded, reader) == ["hello", "refund"]


async def test_a_superadmin_sees_all_definitions_for_any_tenant(guarded):
    root = await guarded.token("superadmin")
    bound = await guarded.token("superadmin", "acme")

    assert await seen(guarded, root) == KEYS
    assert await seen(guarded, root, "&tenant=acme") == KEYS
    assert await seen(guarded, bound) == ["hello", "refund"]


async def test_a_hidden_definition_is_not_found(guarded):
    user = await guarded.token("user", "acme")

    responses = []
    for key in ("refund", "tidy", "refunx", "tidx"):
        response = await guarded.client.get(f"/api/v1/definitions/{key}", headers=user)
        own = response.headers["x-request-id"]
        text = response.text.replace(own, "<request>").replace(key, "<asked>")
        responses.append((response.status_code, text))

    assert len(set(responses)) == 1
    assert responses[0][0] == 404
    assert "1 definition is known" in responses[0][1]


async def test_suggestions_for_a_typo_omit_hidden_definitions(guarded):
    user = await guarded.token("user", "acme")

    def comparable(answer):
        own = answer.headers["x-request-id"]
        return answer.status_code, answer.text.replace(own, "<request>")

    near = await guarded.client.post("/api/v1/jobs", json={"definition": "refunx"}, headers=user)
    far = await guarded.client.post("/api/v1/jobs", json={"definition": "zzzzzz"}, headers=user)
    own = await guarded.client.post("/api/v1/jobs", json={"definition": "hellp"}, headers=user)

    assert comparable(near)[1].replace("refunx", "zzzzzz") == comparable(far)[1]
    assert "1 definition is known" in near.text
    assert "`hello`" in own.json()["hint"]


async def test_without_authentication_all_definitions_are_shown(api, guarded):
    for query in ("?system=true", "?system=true&tenant=acme"):
        listed = (await api.get(f"/definitions{query}")).json()["items"]

        assert set(KEYS) <= {each["key"] for each in listed}
    assert (await api.get("/definitions/tidy?tenant=acme")).status_code == 200
