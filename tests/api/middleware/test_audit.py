"""The audit entry of a change over the API: the values before and after, without secrets."""

import pytest
from pydantic import SecretStr

from tests.api.authenticated_api import guarding

UNCHANGED = ("id", "definition", "tenant_id")


@pytest.fixture
async def guarded(wl):
    @wl.job
    def sign(name: str, pin: SecretStr) -> str:
        return name

    async with guarding(wl) as guarded:
        yield guarded


@pytest.fixture
async def root(guarded):
    return await guarded.token("superadmin")


async def last(guarded, root, tenant=None):
    query = f"?tenant={tenant}" if tenant else ""
    response = await guarded.client.get(f"/api/v1/audit{query}", headers=root)
    return response.json()["items"][0]


async def test_a_queue_limit_is_audited_with_before_and_after(guarded, root):
    await guarded.client.patch("/api/v1/queues/mail", json={"max_concurrency": 2}, headers=root)
    await guarded.client.patch("/api/v1/queues/mail", json={"max_concurrency": 5}, headers=root)

    entry = await last(guarded, root)

    assert (entry["action"], entry["target_id"]) == ("queues.write", "mail")
    assert entry["before"] == {"max_concurrency": 2}
    assert entry["after"] == {"max_concurrency": 5}


async def test_a_definition_edit_is_audited_with_its_differences_only(guarded, root):
    await guarded.client.patch("/api/v1/definitions/sign", json={"max_attempts": 7}, headers=root)

    entry = await last(guarded, root)

    assert (entry["before"]["max_attempts"], entry["after"]["max_attempts"]) == (3, 7)
    assert "queue" not in entry["before"]


async def test_a_cancel_is_audited_with_its_states_in_the_tenants_chain(guarded, root):
    receipt = await guarded.wl.enqueue("sign", {"name": "Ada", "pin": "0000"}, tenant="acme")
    body = {"reason": "not needed, password=hunter2hunter2"}
    await guarded.client.post(f"/api/v1/jobs/{receipt.job_id}/cancel", json=body, headers=root)

    entry = await last(guarded, root, "acme")

    assert (entry["action"], entry["target_id"]) == ("jobs.cancel", str(receipt.job_id))
    assert (entry["before"]["state"], entry["after"]["state"]) == ("queued", "canceled")
    assert not set(UNCHANGED) & {*entry["before"], *entry["after"]}
    assert "hunter2" not in str(entry)


async def test_values_marked_secret_are_not_audited(guarded, root):
    admin = await guarded.token("tenant_admin", "acme")
    trigger = await guarded.client.post(
        "/api/v1/triggers",
        json={
            "name": "in",
            "type": "event",
            "definition": "sign",
            "event_name": "arrived",
            "payload": {"name": "Ada", "pin": "4711-4711"},
        },
        headers=admin,
    )
    created = await last(guarded, root, "acme")
    changed = {"payload": {"name": "Bob", "pin": "0815-0815"}}
    await guarded.client.patch(
        f"/api/v1/triggers/{trigger.json()['id']}", json=changed, headers=admin
    )
    edited = await last(guarded, root, "acme")
    await guarded.client.delete(f"/api/v1/triggers/{trigger.json()['id']}", headers=admin)
    deleted = await last(guarded, root, "acme")

    assert (created["before"], created["target_id"]) == (None, trigger.json()["id"])
    assert created["after"]["payload"] == {"name": "Ada", "pin": "•••"}
    assert edited["before"]["payload"]["name"] == "Ada"
    assert edited["after"]["payload"] == {"name": "Bob", "pin": "•••"}
    assert (deleted["before"]["name"], deleted["after"]) == ("in", None)
    # The whole PIN: four digits may stand in a hash by chance.
    assert "4711-4711" not in str([created, edited, deleted])


async def test_creating_suspending_and_deleting_a_tenant_leave_three_entries(guarded, root):
    await guarded.client.post("/api/v1/tenants", json={"id": "initech"}, headers=root)
    created = await last(guarded, root)
    await guarded.client.post("/api/v1/tenants/initech/suspend", headers=root)
    suspended = await last(guarded, root)
    await guarded.client.delete("/api/v1/tenants/initech", headers=root)
    deleted = await last(guarded, root)

    assert (created["target_id"], created["after"]["id"]) == ("initech", "initech")
    assert (suspended["before"], suspended["after"]) == (
        {"state": "active"},
        {"state": "suspended"},
    )
    assert (deleted["before"]["id"], deleted["after"]) == ("initech", {"closed": 0})


async def test_a_dead_letter_group_action_is_audited_with_name_and_count(guarded, root):
    group = {"definition": "sign", "fingerprint": "abc"}
    await guarded.client.post("/api/v1/dead/groups/retry", json=group, headers=root)

    entry = await last(guarded, root)

    assert (entry["action"], entry["target_id"]) == ("jobs.retry", "sign/abc")
    assert entry["after"]["changed"] == 0


async def test_a_failed_change_leaves_no_entry_and_a_valid_chain(guarded, root):
    await guarded.client.patch("/api/v1/definitions/sign", json={"max_attempts": 0}, headers=root)
    await guarded.client.post(
        "/api/v1/jobs/0190a5d0-0000-7000-8000-000000000000/retry", headers=root
    )

    listed = (await guarded.client.get("/api/v1/audit", headers=root)).json()["items"]
    whole = (await guarded.client.get("/api/v1/audit/verify", headers=root)).json()

    assert [each["action"] for each in listed] == ["tokens.write"]
    assert whole["whole"] is True


async def test_a_dry_run_leaves_no_entry(guarded, root):
    await guarded.client.patch("/api/v1/queues/mail", json={"max_concurrency": 2}, headers=root)
    body = {"name": "n", "type": "cron", "definition": "sign", "cron": "0 2 * * *"}
    body["payload"] = {"name": "Ada", "pin": "0000"}

    tried = await guarded.client.post("/api/v1/schedules?dry_run=true", json=body, headers=root)

    assert tried.status_code == 200, tried.text
    assert (await last(guarded, root))["action"] == "queues.write"
