"""`PATCH /jobs/{id}` and the bulk action `update`: only waiting jobs are changed."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.api.authenticated_api import guarding
from windlass.upkeep.bulk_operations import OperationRunner


@pytest.fixture
async def hello(wl):
    @wl.job
    def hello(name: str) -> str:
        return name

    await wl.ready()
    return hello


async def enqueued(hello, **options):
    return str((await hello.options(**options).enqueue(name="Ada")).job_id)


async def worked(wl):
    return await OperationRunner(await wl.ready()).tick()


async def test_a_waiting_job_is_updated_in_the_given_fields_only(api, hello):
    id = await enqueued(hello, metadata={"team": "a"})

    changed = await api.patch(f"/jobs/{id[-8:]}", json={"priority": "high", "queue": "mail"})
    tagged = await api.patch(f"/jobs/{id}", json={"metadata": {"team": "b"}, "queue": None})

    assert (changed.status_code, changed.json()["id"]) == (200, id)
    assert (changed.json()["priority"], changed.json()["queue"]) == (50, "mail")
    assert changed.json()["metadata"] == {"team": "a"}
    assert (tagged.json()["metadata"], tagged.json()["queue"]) == ({"team": "b"}, "mail")
    queues = (await api.get("/queues")).json()["items"]
    assert {each["name"]: each["queued"] for each in queues} == {"default": 0, "mail": 1}
    steps = (await api.get(f"/jobs/{id}/history")).json()["items"]
    assert steps[1]["message"] == "changed: priority 100 to 50, queue default to mail"


async def test_a_due_time_postpones_or_advances_a_job(api, hello):
    id = await enqueued(hello)
    tomorrow = datetime.now(UTC) + timedelta(days=1)

    put_off = (await api.patch(f"/jobs/{id}", json={"due_at": tomorrow.isoformat()})).json()
    sooner = (await api.patch(f"/jobs/{id}", json={"delay_seconds": 60})).json()

    assert put_off["view"] == sooner["view"] == "scheduled"
    assert datetime.fromisoformat(put_off["due_at"]) == tomorrow
    assert datetime.fromisoformat(sooner["due_at"]) < tomorrow


@pytest.mark.parametrize("end", ["cancel"])
async def test_an_ended_job_is_not_updated(api, hello, end):
    id = await enqueued(hello)
    await api.post(f"/jobs/{id}/{end}")

    refused = await api.patch(f"/jobs/{id}", json={"priority": 1})

    assert (refused.status_code, refused.json()["code"]) == (409, "WL3302")
    assert "cannot be changed: it was canceled" in refused.json()["title"]
    assert (await api.get(f"/jobs/{id}")).json()["priority"] == 100


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"priority": None},
        {"priority": "urgent"},
        {"priority": 99_999},
        {"queue": ""},
        {"payload": {}},
        {"delay_seconds": 5, "due_at": "2099-01-01T00:00:00Z"},
        {"due_at": "2001-01-01T00:00:00Z"},
        {"due_at": "2099-01-01T00:00:00"},
        {"metadata": [1]},
    ],
)
async def test_an_invalid_update_changes_nothing(api, hello, body):
    id = await enqueued(hello)
    before = (await api.get(f"/jobs/{id}")).json()

    refused = await api.patch(f"/jobs/{id}", json=body)

    assert refused.status_code == 422, refused.text
    assert (await api.get(f"/jobs/{id}")).json() == before


async def test_an_update_is_audited_with_before_and_after(wl, hello):
    async with guarding(wl) as guarded:
        admin = await guarded.token("tenant_admin", "acme")
        user = await guarded.token("user", "acme")
        id = await enqueued(hello, tenant="acme")
        other = await enqueued(hello, tenant="globex")
        at = f"/api/v1/jobs/{id}"

        changed = await guarded.client.patch(at, json={"priority": 50}, headers=admin)
        refused = await guarded.client.patch(at, json={"priority": 50}, headers=user)
        foreign = await guarded.client.patch(
            f"/api/v1/jobs/{other}", json={"priority": 1}, headers=admin
        )

        statuses = [each.status_code for each in (changed, refused, foreign)]
        assert statuses == [200, 403, 404]
        entries = (await guarded.client.get("/api/v1/audit", headers=admin)).json()["items"]
        entry = next(each for each in entries if each["outcome"] == "allowed")
        assert (entry["action"], entry["target_id"]) == ("jobs.update", id)
        assert (entry["before"]["priority"], entry["after"]["priority"]) == (100, 50)
        assert "payload" not in entry["before"]


async def test_a_bulk_update_shows_what_it_changes(api, wl, hello):
    ids = [await enqueued(hello) for _ in range(3)]
    await api.post(f"/jobs/{ids[0]}/cancel")
    request = {
        "action": "update",
        "q": "definition:hello",
        "changes": {"queue": "mail", "delay_seconds": 3600},
    }

    preview = (await api.post("/operations/preview", json=request)).json()
    begun = await api.post("/operations", json=request)
    await worked(wl)
    done = (await api.get(f"/operations/{begun.json()['id']}")).json()

    assert preview["skipped"] == [
        {"reason": "it is canceled; only pending or queued jobs can be changed", "count": 1}
    ]
    assert begun.status_code == 201
    assert (done["done"], done["skipped"], done["changes"]["queue"]) == (2, 1, "mail")
    assert "delay_seconds" not in done["changes"]  # it is about an instant, whenever it is done
    jobs = [(await api.get(f"/jobs/{id}")).json() for id in ids]
    assert [job["queue"] for job in jobs] == ["default", "mail", "mail"]
    assert {job["due_at"] for job in jobs[1:]} == {done["changes"]["due_at"]}


@pytest.mark.parametrize(
    "meant",
    [
        {"action": "update"},
        {"action": "update", "changes": None},
        {"action": "update", "changes": {}},
        {"action": "update", "changes": {"color": "red"}},
        {"action": "cancel", "changes": {"priority": 1}},
        {"action": "update", "changes": {"due_at": "2001-01-01T00:00:00Z"}},
    ],
)
async def test_an_update_without_changes_is_refused(api, hello, meant):
    await enqueued(hello)

    begun = await api.post("/operations", json={"q": "state:queued", **meant})

    assert begun.status_code == 422
    assert (await api.get("/operations")).json()["items"] == []
