"""`/jobs/suggest`: fields and values for a filter, with counts, as far as the caller sees."""

import pytest

from tests.api.authenticated_api import guarding
from tests.support.wait import until


@pytest.fixture
async def guarded(wl):
    """Two jobs of mail by acme, one by globex, and a definition that has none."""

    @wl.job("mail.send", queue="mail", tags=("vip",))
    def send() -> None: ...

    @wl.job("report", tags=("slow",))
    def report() -> None: ...

    async with guarding(wl) as guarded:
        for tenant in ("acme", "acme", "globex"):
            await send.options(tenant=tenant).enqueue()
        await send.options(tenant="globex", delay="1h").enqueue()
        yield guarded


async def suggested(guarded, who, q, **params):
    answer = await guarded.client.get(
        "/api/v1/jobs/suggest", params={"q": q, **params}, headers=who
    )
    assert answer.status_code == 200, answer.text
    return {each["insert"]: each["count"] for each in answer.json()["items"]}


async def test_values_have_counts_the_most_first(guarded):
    root = await guarded.token("superadmin")

    assert await suggested(guarded, root, "definition:") == {
        "definition:mail.send ": 4,
        "definition:report ": 0,
    }
    assert await suggested(guarded, root, "source:manual tenant:") == {
        "source:manual tenant:acme ": 2,
        "source:manual tenant:globex ": 2,
        "source:manual tenant:default ": 0,
    }
    assert await suggested(guarded, root, "queue:ma") == {"queue:mail ": 4}
    assert await suggested(guarded, root, "tag:v") == {"tag:vip ": 4}
    states = await suggested(guarded, root, "state:")
    assert (states["state:queued "], states["state:scheduled "]) == (4, 1)
    assert await suggested(guarded, root, "source:ev") == {"source:event ": None}
    assert len(await suggested(guarded, root, "", limit=3)) == 3


async def test_a_worker_is_suggested_to_those_who_see_workers(wl, guarded):
    root, admin = await guarded.token("superadmin"), await guarded.token("tenant_admin", "acme")

    async with wl.running():
        await until(
            lambda: suggested(guarded, root, "worker:"), waiting_for="the worker's heartbeat"
        )
        hidden = await suggested(guarded, admin, "worker:")

    assert hidden == {}


async def test_a_tenants_caller_is_told_of_that_tenant_only(guarded):
    admin = await guarded.token("tenant_admin", tenant="acme")

    assert (await suggested(guarded, admin, "definition:ma")) == {"definition:mail.send ": 2}
    assert (await suggested(guarded, admin, "state:qu")) == {"state:queued ": 2}
    assert (await suggested(guarded, admin, "queue:ma")) == {"queue:mail ": 2}
    assert await suggested(guarded, admin, "tenant:") == {}
    assert "tenant:" not in await suggested(guarded, admin, "")


async def test_a_user_is_told_of_their_own_jobs_only(guarded):
    user = await guarded.token("user", tenant="acme")
    await guarded.client.post("/api/v1/jobs", json={"definition": "mail.send"}, headers=user)

    assert (await suggested(guarded, user, "state:qu")) == {"state:queued ": 1}
    assert (await suggested(guarded, user, "definition:")) == {
        "definition:mail.send ": None,
        "definition:report ": None,
    }
    assert await suggested(guarded, user, "queue:") == {}


async def test_of_one_tenant_nothing_is_said(api):
    items = (await api.get("/jobs/suggest", params={"q": ""})).json()["items"]
    tenants = (await api.get("/jobs/suggest", params={"q": "tenant:"})).json()["items"]

    assert items[0] == {
        "insert": "state:",
        "label": "state:",
        "kind": "field",
        "means": "where the job rests, or a view of that",
        "count": None,
        "exact": True,
    }
    assert "tenant:" not in [each["insert"] for each in items]
    assert tenants == []
