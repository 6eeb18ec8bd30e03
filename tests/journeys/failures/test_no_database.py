"""A database that is down, or not migrated, when a program starts."""

import asyncio

import pytest

from windlass import Windlass, tasks
from windlass.errors import DatabaseUnreachable, SchemaOutdated

SERVERS = [
    pytest.param("postgresql", marks=pytest.mark.database("postgresql")),
    pytest.param("mariadb", marks=pytest.mark.database("mariadb")),
]
NOWHERE = {
    "sqlite": "sqlite:////nowhere/to/be/found.db",
    "postgresql": "postgresql://ada:lovelace@127.0.0.1:1/shop",
    "mariadb": "mariadb://ada:lovelace@127.0.0.1:1/shop",
}


@pytest.fixture(autouse=True)
def listed_tasks(monkeypatch):
    """Let `asyncio.all_tasks` list Windlass's own tasks too."""
    monkeypatch.setattr(tasks, "_unlist", lambda task: task)


@pytest.mark.parametrize(
    "kind", [pytest.param("sqlite", marks=pytest.mark.database("sqlite")), *SERVERS]
)
async def test_a_program_reports_a_database_that_is_down_at_start(kind):
    wl = Windlass(NOWHERE[kind])

    with pytest.raises(DatabaseUnreachable) as running:
        async with wl.running():
            pytest.fail("it runs without a database")
    with pytest.raises(DatabaseUnreachable) as enqueued:
        await wl.enqueue("quick")
    await wl.close()

    for raised in (running, enqueued):
        assert raised.value.code == "WL1101"
        assert "lovelace" not in str(raised.value)
    assert len(asyncio.all_tasks()) == 1, "something was left running"


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_program_reports_a_database_that_is_not_migrated(kind, new_database):
    wl = Windlass(new_database(kind).url)

    with pytest.raises(SchemaOutdated) as running:
        async with wl.running():
            pytest.fail("it runs without tables")
    with pytest.raises(SchemaOutdated) as enqueued:
        await wl.enqueue("quick")
    await wl.close()

    for raised in (running, enqueued):
        assert raised.value.code == "WL1203"
        assert "windlass db migrate" in raised.value.hint
    assert len(asyncio.all_tasks()) == 1, "something was left running"
