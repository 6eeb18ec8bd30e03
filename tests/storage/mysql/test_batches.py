"""Batches of any size and content arrive on MariaDB as they were given."""

import json
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest

from tests.storage.mysql.statement_recorder import connect, overheard
from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    claim_all,
    enqueue,
    finish,
    held,
    job,
    new_job,
)
from windlass.core.jobs.states import JobState
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import literal
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.parametrize("database", ["mariadb"], indirect=True)

VALUES: list[Any] = [
    None,
    0,
    -1,
    2**62,
    1.5,
    1e-300,
    "",
    "'",
    "\\",
    "\\'",
    "'; drop table windlass_live; -- ",
    '"double"',
    "line\nline\r\n\ttab\x1a\x00\b",
    "%s %(x)s %% :name {now} ?",
    "Ünïcödé 😀 漢字 \u2028",
    "trailing   ",
]


@pytest.fixture
async def storage(database) -> AsyncIterator[Storage]:
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_literal_is_read_back_as_its_value(database, value):
    with closing(connect(database.url)) as server, server.cursor() as cursor:
        cursor.execute("set names utf8mb4")
        cursor.execute(f"select {literal(value)}")

        [(read,)] = cursor.fetchall()

    assert (float(read) if isinstance(value, float) else read) == value


def test_an_empty_list_matches_nothing(database):
    with closing(connect(database.url)) as server, server.cursor() as cursor:
        cursor.execute(f"select 1 from windlass_tenants where id in {literal(())}")

        assert cursor.fetchall() == ()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {}], ids=repr)
def test_a_value_without_a_literal_is_refused(database, value):
    with pytest.raises((TypeError, ValueError)):
        literal(value)


async def test_a_batch_longer_than_a_statement_may_be_is_stored_whole(storage, monkeypatch):
    await enqueue(storage)
    monkeypatch.setattr(
        MysqlConnection,
        "packet",
        property(lambda link: 40_000, lambda link, _: None),
        raising=False,
    )
    parent = new_job()
    jobs = [new_job(payload=json.dumps("x" * 3000)) for _ in range(20)]
    children = [new_job(after=(parent.id, jobs[0].id)) for _ in range(5)]

    with overheard() as said:
        stored = await storage.jobs.enqueue([parent, *jobs, *children], whole=True)
    leases = await claim_all(storage)
    ended = await storage.leases.finish(
        ALDER, [finish(lease, result=json.dumps("y" * 3000)) for lease in leases]
    )

    assert max(map(len, said)) < 40_000
    assert {s.status for s in stored} == {"created"}
    assert len(ended) == len(leases) == 22
    assert {(await job(storage, child.id)).state for child in children} == {JobState.QUEUED}


async def test_a_payload_that_looks_like_a_statement_is_only_a_payload(storage):
    text = """ into @windlass_input locate('"keyed"', @windlass_input) > 0 %(jobs)s <> '[]' """

    id = await enqueue(storage, payload=json.dumps(text), correlation_id=text)
    [lease] = await claim_all(storage)
    ended = await storage.leases.finish(ALDER, [finish(lease, result=json.dumps(text))])

    assert list(ended.values()) == [JobState.COMPLETED]
    made = await job(storage, id)
    assert (made.payload, made.correlation_id, made.result) == (text, text, text)


async def test_columns_that_jobs_usually_share_may_differ(storage):
    jobs = [
        new_job(priority=n, correlation_id=f"c{n}", metadata=json.dumps({"n": n}), held=n % 2 == 1)
        for n in range(10)
    ]

    await storage.jobs.enqueue(jobs)

    for given in jobs:
        made = await job(storage, given.id)
        assert (made.priority, made.correlation_id) == (given.priority, given.correlation_id)
        assert (made.metadata, made.held) == (json.loads(given.metadata), given.held)


async def test_leases_of_a_batch_may_end_differently(storage):
    await storage.jobs.enqueue([new_job() for _ in range(4)])
    leases = await claim_all(storage)
    states = [JobState.COMPLETED, JobState.DEAD_LETTER, JobState.QUEUED, JobState.CANCELED]

    ended = await storage.leases.finish(
        ALDER,
        [
            finish(lease, state, error=f"error {n}", result=json.dumps(n))
            for n, (lease, state) in enumerate(zip(leases, states, strict=True))
        ],
    )

    assert [ended[held(lease)] for lease in leases] == states
    assert [(await job(storage, lease.job_id)).last_error for lease in leases] == [
        f"error {n}" for n in range(4)
    ]
