"""A blocking program's own transaction, of every kind, through `windlass.sync`."""

import asyncio
from contextlib import closing
from uuid import UUID

import psycopg2
import pytest
from psycopg2.extensions import ISQLQuote, adapters

from tests.storage.callers.test_callers import for_every_caller
from tests.support.caller_transactions import CALLERS
from windlass import Settings, sync
from windlass.errors import JobNotFound, TransactionUnsupported
from windlass.storage.callers import drive

ASYNC = ("aiosqlite", "async", "Async", "asyncpg", "asyncmy")


def is_async(kind):
    return any(word in kind for word in ASYNC)


@pytest.fixture
def app(database):
    with closing(sync.Windlass(database.url, settings=Settings())) as app:
        app.job("hello")(lambda: None)
        app.enqueue("hello")  # its database is ready
        yield app


@for_every_caller
def test_a_job_and_an_event_exist_once_the_transaction_commits(app, database, kind):
    with asyncio.Runner() as runner, CALLERS[database.kind][kind](database.url, runner) as caller:
        if caller.run is not drive:
            assert is_async(kind)
            with pytest.raises(TransactionUnsupported, match="has to be awaited"):
                app.enqueue("hello", tx=caller.tx)
            return
        receipt = app.enqueue("hello", tx=caller.tx)
        event = app.emit("folder.changed", tx=caller.tx)
        with pytest.raises(JobNotFound):
            app.jobs.get(receipt.job_id)

        caller.commit()

    assert app.jobs.get(receipt.job_id).id == receipt.job_id
    assert app.events.get(event.id).id == event.id


@for_every_caller
def test_a_rollback_leaves_nothing(app, database, kind):
    with asyncio.Runner() as runner, CALLERS[database.kind][kind](database.url, runner) as caller:
        if caller.run is not drive:
            return
        receipt = app.enqueue("hello", tx=caller.tx)
        caller.rollback()

    with pytest.raises(JobNotFound):
        app.jobs.get(receipt.job_id)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_psycopg2_needs_no_type_registered_for_ids(app, database, monkeypatch):
    monkeypatch.delitem(adapters, (UUID, ISQLQuote), raising=False)  # SQLAlchemy registers it

    with closing(psycopg2.connect(database.url)) as connection:
        event = app.emit("folder.changed", tx=connection)
        connection.commit()

    assert app.events.get(event.id).id == event.id
