"""A process that starts before the database is ready waits for it and logs the cause."""

import pytest

from windlass.engine import startup_wait
from windlass.engine.startup_wait import wait_until_ready
from windlass.errors import (
    DatabaseAccessDenied,
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseUnreachable,
)

URL = "postgresql://db/shop"


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(startup_wait, "backoff_seconds", lambda failures: 0.0)


def answers(*of):
    """Raises or returns these in turn."""
    left = list(of)

    async def ready():
        now = left.pop(0)
        if isinstance(now, Exception):
            raise now
        return now

    return ready


async def test_each_cause_of_waiting_is_logged_once_until_the_database_is_ready(engine, heard):
    starting = DatabaseNotReady(URL, cause="the database system is starting up")
    read_only = DatabaseReadOnly(URL)

    answer = await wait_until_ready(
        answers(starting, starting, starting, read_only, read_only, "ready"), engine.telemetry
    )

    assert answer == "ready"
    assert heard.events().count("waiting for the database") == 2


@pytest.mark.parametrize("error", [DatabaseUnreachable(URL), DatabaseAccessDenied(URL)])
async def test_lasting_errors_are_raised_at_once(engine, error):
    with pytest.raises(type(error)):
        await wait_until_ready(answers(error), engine.telemetry)


async def test_an_outage_is_logged_once_until_its_cause_changes(engine, heard):
    for error in [DatabaseReadOnly(URL)] * 3 + [DatabaseUnreachable(URL)] * 3:
        engine.telemetry.trouble("claiming", error)

    assert heard.events().count("claiming failed") == 2
