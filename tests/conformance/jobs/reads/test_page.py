"""page: lists of the jobs in a scope, newest first."""

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    GLOBEX,
    HOUR,
    MINUTE,
    SECOND,
    START,
    a_job,
    a_tenant,
    claim_all,
    end,
    enqueue,
    finish,
    job,
    lost,
    new_job,
    new_jobs,
    release,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState, View
from windlass.ids import DefinitionKey, JobId, QueueName


async def ids(storage, scope=ALL_TENANTS, **chosen) -> list[JobId]:
    page = await storage.jobs.page(scope, JobQuery.of(**chosen), limit=1000)
    assert page.next is None
    return [found.id for found in page.jobs]


async def all_pages(storage, limit: int, scope=ALL_TENANTS, **chosen) -> list[list[JobId]]:
    pages, after = [], None
    while True:
        page = await storage.jobs.page(scope, JobQuery.of(**chosen), after=after, limit=limit)
        pages.append([found.id for found in page.jobs])
        if page.next is None:
            return pages
        after = page.next


async def test_an_empty_list_is_one_empty_page(storage):
    assert await all_pages(storage, 10) == [[]]


async def test_jobs_of_all_states_are_listed_newest_first(storage):
    created = [(await a_job(storage, state)).id for state in [*JobState, *JobState]]

    assert await ids(storage) == created[::-1]


async def test_a_list_loads_the_beginning_of_an_error(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.DEAD_LETTER, error="é" * 20_000)

    page = await storage.jobs.page(ALL_TENANTS, JobQuery.of())

    assert [found.last_error for found in page.jobs] == ["é" * 500]
    assert (await job(storage, lease.job_id)).last_error == "é" * 20_000


async def test_a_listed_job_lacks_only_its_large_fields(storage):
    for state in JobState:
        listed_as = await a_job(
            storage, state, metadata='{"m": 1}', correlation_id="c", dedupe_key=f"d{state}"
        )
        [listed, *_] = (await storage.jobs.page(ALL_TENANTS, JobQuery())).jobs
        large = {"payload", "metadata", "result", "warnings", "error_trace"}
        for field in set(listed.__slots__) - large:
            assert getattr(listed, field) == getattr(listed_as, field), field
        assert listed.payload is listed.result is listed.error_trace is None
        assert (listed.metadata, listed.warnings) == ({}, ())


async def test_pages_have_no_gaps_and_no_repeats(storage):
    created = []
    for _ in range(3):
        created += [(await a_job(storage, state)).id for state in JobState]

    for limit in (1, 2, 3, 7, 18, 50):
        pages = await all_pages(storage, limit)

        assert [id for page in pages for id in page] == created[::-1]
        assert all(len(page) == limit for page in pages[:-1])
        assert pages[-1]


async def test_pages_stay_consistent_while_jobs_move(storage):
    created = [await enqueue(storage) for _ in range(6)]
    first = await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=3)
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim_all(storage)])
    newer = await enqueue(storage)

    second = await storage.jobs.page(ALL_TENANTS, JobQuery(), after=first.next, limit=3)

    assert [found.id for found in first.jobs] == created[:2:-1]
    assert [found.id for found in second.jobs] == created[2::-1]
    assert second.next is None
    assert (await ids(storage))[0] == newer


async def test_a_state_filter_selects_its_jobs(storage):
    created = {one: (await a_job(storage, one)).id for one in JobState}

    for state in JobState:
        assert await ids(storage, states=frozenset({str(state)})) == [created[state]]


async def test_several_state_filters_select_the_jobs_of_each(storage):
    created = {one: (await a_job(storage, one)).id for one in JobState}
    later = await enqueue(storage, delay=HOUR)

    found = await ids(storage, states=frozenset({"queued", "completed"}))

    assert found == [later, created[JobState.COMPLETED], created[JobState.QUEUED]]


async def a_zoo(storage, clock) -> dict[str, JobId]:
    """One job of each view."""
    zoo = {
        "due": await enqueue(storage),
        "scheduled": await enqueue(storage, delay=HOUR),
        "waiting": await enqueue(storage, held=True),
    }
    for name, ending in {
        "failed": lambda lease: finish(lease, JobState.QUEUED, delay=HOUR),
        "failed, due": lambda lease: finish(lease, JobState.QUEUED),
        "lost": lambda lease: lost(lease, delay=HOUR),
        "snoozed": lambda lease: release(lease, delay=HOUR),
        "released": release,
    }.items():
        lease = await started(storage)
        zoo[name] = lease.job_id
        await storage.leases.finish(ALDER, [ending(lease)])
    return zoo


@pytest.mark.parametrize(
    ("view", "chosen"),
    [
        (View.SCHEDULED, ["scheduled", "snoozed"]),
        (View.WAITING, ["waiting"]),
        (View.RETRYING, ["failed", "failed, due", "lost"]),
    ],
)
async def test_a_view_filter_selects_its_jobs(storage, clock, view, chosen):
    zoo = await a_zoo(storage, clock)

    found = await ids(storage, states=frozenset({str(view)}))

    assert found == [zoo[name] for name in chosen][::-1]
    for name, id in zoo.items():
        assert ((await job(storage, id)).view(clock.now) is view) == (name in chosen), name


async def test_views_and_states_combine(storage, clock):
    zoo = await a_zoo(storage, clock)
    dead = await a_job(storage, JobState.DEAD_LETTER)

    found = await ids(storage, states=frozenset({"retrying", "waiting", "dead_letter"}))

    assert set(found) == {
        dead.id,
        *(zoo[name] for name in ("failed", "failed, due", "lost", "waiting")),
    }
    assert set(await ids(storage, states=frozenset({"queued", "retrying"}))) == set(
        zoo.values()
    ) - {zoo["waiting"]}


async def test_a_job_that_is_due_is_no_longer_scheduled(storage, clock):
    await enqueue(storage, delay=MINUTE)
    await clock.advance(MINUTE)

    assert await ids(storage, states=frozenset({"scheduled"})) == []


async def test_field_filters_select_jobs(storage):
    plain = await enqueue(storage)
    other = await enqueue(storage, definition=DefinitionKey("other"))
    queue = await enqueue(storage, queue=QueueName("mail"))
    source = await enqueue(storage, source="schedule")
    correlated = await enqueue(storage, correlation_id="c")
    both = await enqueue(storage, queue=QueueName("mail"), correlation_id="c")

    assert await ids(storage, definition="other") == [other]
    assert await ids(storage, queue="mail") == [both, queue]
    assert await ids(storage, source="schedule") == [source]
    assert await ids(storage, correlation_id="c") == [both, correlated]
    assert await ids(storage, correlation_id="c", queue="mail") == [both]
    assert await ids(storage, definition="nobody's") == []
    assert len(await ids(storage)) == 6
    assert plain in await ids(storage, queue="default")


async def test_time_filters_select_jobs(storage, clock):
    created = []
    for _ in range(4):
        created.append(await enqueue(storage))
        await clock.advance(SECOND)

    assert await ids(storage, created_after=START) == created[:0:-1]
    assert await ids(storage, created_before=START + 2 * SECOND) == created[1::-1]
    between = {"created_after": START, "created_before": START + 2 * SECOND}
    assert await ids(storage, **between) == [created[1]]


async def test_a_filtered_list_pages_without_gaps(storage):
    for n in range(20):
        await enqueue(storage, queue=QueueName(f"q{n % 2}"), delay=HOUR if n % 3 else None)

    pages = await all_pages(storage, 3, queue="q1", states=frozenset({"queued"}))

    assert [len(page) for page in pages] == [3, 3, 3, 1]
    assert len({id for page in pages for id in page}) == 10


async def test_a_tenant_sees_its_own_jobs_only(storage):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    mine = [(await a_job(storage, state, tenant=ACME)).id for state in JobState]
    foreign = [(await a_job(storage, state, tenant=GLOBEX)).id for state in JobState]

    assert await ids(storage, Scope(ACME)) == mine[::-1]
    assert await ids(storage, Scope(GLOBEX)) == foreign[::-1]
    assert await ids(storage, Scope.of("nobody")) == []
    assert [id for page in await all_pages(storage, 4, Scope(ACME)) for id in page] == mine[::-1]
    after = (await storage.jobs.page(Scope(GLOBEX), JobQuery(), after=mine[-1])).jobs
    assert {found.tenant for found in after} <= {GLOBEX}


async def test_a_long_list_pages_through_all_of_it(storage):
    new = new_jobs(300) + [new_job(delay=HOUR) for _ in range(100)]
    await storage.jobs.enqueue(new)
    leases = (await claim_all(storage))[:150]
    await storage.leases.finish(ALDER, [finish(lease) for lease in leases])

    pages = await all_pages(storage, 50)

    assert [id for page in pages for id in page] == sorted((n.id for n in new), reverse=True)
    assert len(pages) == 8


async def test_ended_jobs_are_listed(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.DEAD_LETTER, error="boom", error_type="E")

    [dead] = (
        await storage.jobs.page(ALL_TENANTS, JobQuery.of(states=frozenset({"dead_letter"})))
    ).jobs

    assert (dead.last_error, dead.error_type) == ("boom", "E")
