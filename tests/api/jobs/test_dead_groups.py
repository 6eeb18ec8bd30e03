"""`/dead/groups`: trend, tenants, code and recovery of each group."""

import pytest

from tests.support.job_builders import claim, end
from windlass.core.jobs.states import JobState
from windlass.ids import WorkerId

CAUSE = "c" * 16
RUNBOOK = "https://wiki.internal/mail"


@pytest.fixture
async def storage(wl):
    @wl.job(runbook_url=RUNBOOK)
    def mail(to: str) -> str:
        return to

    @wl.job
    def other(to: str) -> str:
        return to

    return (await wl.ready()).storage


async def tick(storage) -> None:
    """Wait until the database's clock shows another time."""
    before = await storage.now()
    while await storage.now() == before:
        pass


async def run(wl, storage, state, *, worker="alder", definition="mail", cause=CAUSE):
    """A job that ended on a worker, later than all before it."""
    await tick(storage)
    receipt = await wl.enqueue(definition, {"to": "ada"})
    [lease] = await claim(storage, worker=WorkerId(worker), known=[definition])
    failure = {"error": "boom", "error_type": "OSError", "fingerprint": cause}
    await end(storage, lease, state, **failure if state is JobState.DEAD_LETTER else {})
    return receipt.job_id


async def groups(api, **query):
    response = await api.get("/dead/groups", params=query)
    assert response.status_code == 200, response.text
    return response.json()["items"]


async def test_a_group_has_its_trend_tenants_and_runbook(api, wl, storage):
    for _ in range(3):
        await run(wl, storage, JobState.DEAD_LETTER)

    [group] = await groups(api)

    assert (len(group["trend_24h"]), len(group["trend_7d"])) == (24, 28)
    # The hour may end between two jobs, and before the groups are read.
    assert sum(group["trend_24h"][-2:]) == sum(group["trend_7d"][-2:]) == 3
    assert sum(group["trend_24h"]) == 3
    assert (group["tenants"], group["tenant_ids"]) == (1, ["default"])
    assert group["runbook_url"] == RUNBOOK
    assert "worker_id" not in group


async def test_a_group_recovers_with_the_next_success_of_its_definition(api, wl, storage):
    await storage.leases.record_worker_code(WorkerId("alder"), "old")
    await tick(storage)
    await storage.leases.record_worker_code(WorkerId("birch"), "new")
    await run(wl, storage, JobState.COMPLETED)
    await run(wl, storage, JobState.DEAD_LETTER)
    await run(wl, storage, JobState.COMPLETED, definition="other")
    [before] = await groups(api)

    id = await run(wl, storage, JobState.COMPLETED, worker="birch")
    [after] = await groups(api)

    assert (before["recovered"], before["recovered_at"], before["code"]) == (False, None, "old")
    assert (after["recovered"], after["recovered_job_id"]) == (True, str(id))
    assert (after["code"], after["recovered_code"]) == ("old", "new")
    assert after["recovered_at"] > after["last_at"]


async def test_a_success_of_older_code_is_no_recovery(api, wl, storage):
    await storage.leases.record_worker_code(WorkerId("alder"), "old")
    await tick(storage)
    await storage.leases.record_worker_code(WorkerId("birch"), "new")
    await run(wl, storage, JobState.DEAD_LETTER, worker="birch")
    await run(wl, storage, JobState.COMPLETED, worker="alder")
    [still] = await groups(api)

    await run(wl, storage, JobState.COMPLETED, worker="unknown")
    [after] = await groups(api)

    assert still["recovered"] is False
    assert (after["recovered"], after["recovered_code"]) == (True, None)


async def test_groups_are_filtered_by_recovery(api, wl, storage):
    await run(wl, storage, JobState.DEAD_LETTER)
    await run(wl, storage, JobState.COMPLETED)
    await run(wl, storage, JobState.DEAD_LETTER, definition="other")

    both = [group["definition"] for group in await groups(api)]
    recovered = [group["definition"] for group in await groups(api, recovered="true")]
    unrecovered = [group["definition"] for group in await groups(api, recovered="false", limit=1)]

    assert (both, recovered, unrecovered) == (["other", "mail"], ["mail"], ["other"])


async def test_operators_edit_and_clear_a_runbook(api, wl, storage):
    edited = await api.patch("/definitions/mail", json={"runbook_url": "http://wiki/2"})
    cleared = await api.patch("/definitions/mail", json={"runbook_url": None})
    refused = await api.patch("/definitions/mail", json={"runbook_url": "javascript:alert(1)"})

    assert (edited.status_code, edited.json()["runbook_url"]) == (200, "http://wiki/2")
    assert "runbook_url" in edited.json()["edited"]
    assert (cleared.status_code, cleared.json()["runbook_url"]) == (200, None)
    assert refused.status_code == 422
