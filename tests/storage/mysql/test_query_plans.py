"""The query plans of MariaDB's hot verbs, pinned, whatever the server believes about the tables.

The tables of a queue have no honest statistics: they were empty, or full, when it last looked.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from tests.storage.mysql.statement_recorder import Step, connect, messages, overheard, plan
from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    KNOWN,
    LEASE_TIME,
    claim,
    finish,
    held,
    log_line,
    new_job,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import Lease, ProgressReport
from windlass.ids import new_job_id
from windlass.storage.sql.statements import Batch
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.parametrize("database", ["mariadb"], indirect=True)

TABLES = ("live", "later", "ended", "parents", "holds", "keys", "definitions", "tenants", "logs")
ANALYZE = f"analyze table {', '.join(f'windlass_{table}' for table in TABLES)}"
STATISTICS = ["never looked at", "looked at while empty", "looked at while full"]


@pytest.fixture
async def storage(database) -> AsyncIterator[Storage]:
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


async def plans_of(
    storage: Storage, url: str, statistics: str, verb: Callable[[list[Lease]], Awaitable[Any]]
) -> list[Step]:
    """The plans of a verb's statements in a crowded database, some jobs of which run."""
    with closing(connect(url)) as server, server.cursor() as cursor:
        if statistics == "looked at while empty":
            cursor.execute(ANALYZE)
        await fill(storage, 1500)
        await fill(storage, 500, delay=timedelta(days=1))
        await storage.leases.finish(ALDER, [finish(lease) for lease in await claim(storage, 500)])
        leases = await claim(storage, 100)
        if statistics == "looked at while full":
            cursor.execute(ANALYZE)
        with overheard() as said:
            await verb(leases)
        return [step for statement in said for step in plan(server, statement)]


HOT: dict[str, Callable[[Storage, list[Lease]], Awaitable[Any]]] = {
    "enqueue": lambda storage, leases: storage.jobs.enqueue(
        [new_job(dedupe_key="d"), new_job(after=(leases[0].job_id,)), new_job()]
    ),
    "enqueue of plain jobs": lambda storage, leases: storage.jobs.enqueue(
        [new_job() for _ in range(50)]
    ),
    "enqueue of later jobs": lambda storage, leases: storage.jobs.enqueue(
        [new_job(delay=timedelta(days=1)) for _ in range(50)]
    ),
    "survey": lambda storage, leases: storage.leases.survey(None, KNOWN),
    "claim": lambda storage, leases: claim(storage, 50),
    "renew": lambda storage, leases: storage.leases.renew(
        ALDER, map_held(leases), lease_time=LEASE_TIME
    ),
    "stops": lambda storage, leases: storage.leases.cancel_requests(ALDER, map_held(leases)),
    "report": lambda storage, leases: storage.leases.record_progress(
        ALDER,
        [
            ProgressReport(job_id=lease.job_id, token=lease.token, fraction=0.5, note=None)
            for lease in leases
        ],
    ),
    "log": lambda storage, leases: storage.leases.append_logs(
        ALDER, [log_line(lease, "a line") for lease in leases]
    ),
    "finish": lambda storage, leases: storage.leases.finish(
        ALDER, [finish(lease) for lease in leases]
    ),
    "another try": lambda storage, leases: storage.leases.finish(
        ALDER, [finish(lease, JobState.QUEUED, error="no") for lease in leases]
    ),
    "reap": lambda storage, leases: storage.leases.reap(
        [finish(lease, JobState.QUEUED, error="lost") for lease in leases]
    ),
    "expired": lambda storage, leases: storage.leases.expired_leases(),
    "overdue": lambda storage, leases: storage.leases.jobs_to_cancel(),
    "promote": lambda storage, leases: storage.leases.promote(),
}


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("verb", HOT)
async def test_a_hot_verb_reads_no_table_from_end_to_end(storage, database, verb, statistics):
    steps = await plans_of(
        storage, database.url, statistics, lambda leases: HOT[verb](storage, leases)
    )

    assert steps
    assert [step for step in steps if step.access in ("ALL", "index")] == []


@pytest.mark.parametrize("statistics", STATISTICS)
async def test_a_claim_takes_a_line_in_the_order_of_its_index(storage, database, statistics):
    steps = await plans_of(storage, database.url, statistics, lambda leases: claim(storage, 50))

    picks = [step for step in steps if step.table == "j" and step.index == "windlass_live_line"]
    assert picks
    assert not [step for step in picks if "filesort" in step.extra or "temporary" in step.extra]


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("verb", ["finish", "another try", "reap", "renew", "report", "stops"])
async def test_leases_are_found_by_the_ids_of_their_jobs(storage, database, verb, statistics):
    steps = await plans_of(
        storage, database.url, statistics, lambda leases: HOT[verb](storage, leases)
    )

    found = {(step.access, step.index) for step in steps if step.table == "j"}
    assert found == {("eq_ref", "PRIMARY")}


@pytest.mark.parametrize("statistics", STATISTICS)
async def test_expired_leases_are_found_by_their_time(storage, database, statistics):
    steps = await plans_of(
        storage, database.url, statistics, lambda leases: storage.leases.expired_leases()
    )

    assert {(step.access, step.index) for step in steps} == {("range", "windlass_live_look")}


@pytest.mark.parametrize("statistics", STATISTICS)
async def test_ended_jobs_of_a_correlation_id_are_found_by_it(storage, database, statistics):
    steps = await plans_of(
        storage,
        database.url,
        statistics,
        lambda leases: storage.jobs.page(ALL_TENANTS, JobQuery.of(correlation_id="order 17")),
    )

    found = {(step.access, step.index) for step in steps if step.table == "windlass_ended"}
    assert found == {("ref", "windlass_ended_correlation")}


@pytest.mark.parametrize("fields", [{}, {"idempotency_key": "k"}], ids=["plain", "with a key"])
async def test_a_plain_finish_takes_two_messages(storage, database, fields):
    id = new_job_id()
    await storage.jobs.enqueue([new_job(id=id, **fields)])
    leases = await claim(storage, 1)

    with messages() as sent:
        ended = await storage.leases.finish(ALDER, [finish(lease) for lease in leases])

    assert len(ended) == 1
    assert len(sent) == 2


async def test_a_plain_enqueue_takes_two_messages(storage, database):
    await fill(storage, 1)

    with messages() as sent:
        await storage.jobs.enqueue([new_job(), new_job()])

    assert len(sent) == 2


async def test_a_survey_and_a_claim_take_five_messages(storage, database):
    await fill(storage, 30)
    await claim(storage, 10)

    with messages() as sent:
        assert len(await claim(storage, 10)) == 10

    assert len(sent) == 5


async def test_a_claim_locks_only_what_it_takes(storage, database):
    await fill(storage, 100)

    async with storage.database.transaction() as session:
        await session.run(
            "claim",
            lines=Batch(
                queue=["default"],
                tenant_id=["default"],
                gate=[""],
                definition=[""],
                line_limit=[10],
                tenant_limit=[10],
            ),
            limits=Batch(name=[]),
            known_keys=list(KNOWN),
            worker_id="alder",
            lease_seconds=30.0,
        )
        others = await claim(storage, 90)

    assert len(others) == 90


async def test_a_claim_costs_the_same_whatever_waits_runs_or_has_ended(storage, database):
    await fill(storage, 100)
    alone = await rows_read_by_a_claim(storage, database.url)
    await fill(storage, 3000)
    await fill(storage, 1000, delay=timedelta(days=1))
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim(storage, 500)])
    await claim(storage, 1000)

    crowded = await rows_read_by_a_claim(storage, database.url)

    assert crowded <= alone * 1.2


async def rows_read_by_a_claim(storage: Storage, url: str) -> int:
    """The number of rows the server reads to survey and claim ten jobs."""
    with overheard() as said:
        assert len(await claim(storage, 10)) == 10
    picks = [text for text in said if text.startswith("(select") or "windlass_live j force" in text]
    with closing(connect(url)) as server, server.cursor() as cursor:
        cursor.execute("flush status")
        for statement in picks:
            cursor.execute(statement.removeprefix("explain "))
        cursor.execute("show session status like 'Handler_read_%'")
        return sum(int(value) for _, value in cursor.fetchall())


def map_held(leases: list[Lease]) -> list[Any]:
    return [held(lease) for lease in leases]


async def fill(storage: Storage, count: int, **changes: Any) -> None:
    for start in range(0, count, 1000):
        batch = range(min(1000, count - start))
        await storage.jobs.enqueue([new_job(**changes) for _ in batch])
