"""visible_job_ids and job_edges: the jobs a caller may see."""

import pytest

from tests.support.job_builders import ACME, a_job, a_tenant, enqueue, enqueue_child, job
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.QUEUED, JobState.COMPLETED])
async def test_a_job_is_visible_to_its_tenant_and_its_creator(storage, state):
    await a_tenant(storage, "acme")
    own = (await a_job(storage, state, tenant=ACME, created_by="user:ada")).id
    others = (await a_job(storage, state, tenant=ACME, created_by="user:Ada")).id
    nobodys = (await a_job(storage, state, tenant=ACME)).id
    foreign = (await a_job(storage, state, created_by="user:ada")).id
    ids = [own, others, nobodys, foreign, new_job_id()]
    acme = Scope(ACME)

    assert await storage.jobs.visible_job_ids(ALL_TENANTS, ids) == {own, others, nobodys, foreign}
    assert await storage.jobs.visible_job_ids(acme, ids) == {own, others, nobodys}
    assert await storage.jobs.visible_job_ids(acme, ids, created_by="user:ada") == {own}
    assert await storage.jobs.visible_job_ids(ALL_TENANTS, ids, created_by="user:ada") == {
        own,
        foreign,
    }


async def test_a_family_shows_the_creator_of_each_job(storage):
    parent = await enqueue(storage, created_by="user:ada")
    child = await enqueue_child(storage, parent, created_by="user:bob")
    own = await enqueue_child(storage, parent, created_by="user:ada")

    edges = {
        edge.child_id: edge for edge in await storage.jobs.job_edges(await job(storage, parent))
    }

    assert edges[child].child_created_by == "user:bob"
    assert edges[child].parent_created_by == "user:ada"
    assert {id for id, edge in edges.items() if edge.made_by("user:ada")} == {own}
