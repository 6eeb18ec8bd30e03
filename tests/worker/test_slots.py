import time

import pytest

from tests.support.wait import until
from windlass.worker.slots import TimeLimits


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def deadlines(told):
    return TimeLimits(told.append)


def stand_still() -> None:
    """Keep the loop from looking until all of the short times are up, as a busy machine does."""
    time.sleep(0.01)


async def test_a_run_expires_when_its_time_is_up(deadlines, told):
    deadlines.add("long", 60)
    deadlines.add("short", 0.01)
    deadlines.add("shorter", 0.005)

    await until(lambda: len(told) == 2)

    assert told == ["shorter", "short"]


async def test_a_late_timer_expires_runs_in_order(deadlines, told):
    deadlines.add("second", 0.002)
    deadlines.add("first", 0.001)

    stand_still()

    await until(lambda: len(told) == 2)
    assert told == ["first", "second"]


async def test_a_run_dropped_while_another_expires_does_not_expire(told):
    def expired(run: str) -> None:
        told.append(run)
        deadlines.drop("second", 0.002)

    deadlines: TimeLimits[str] = TimeLimits(expired)
    deadlines.add("second", 0.002)
    deadlines.add("first", 0.001)
    deadlines.add("third", 0.003)

    stand_still()

    await until(lambda: "third" in told)
    assert told == ["first", "third"]


async def test_a_dropped_run_does_not_expire(deadlines, told):
    deadlines.add("ended", 0.01)
    deadlines.add("goes on", 0.01)

    deadlines.drop("ended", 0.01)
    deadlines.drop("ended", 0.01)
    deadlines.drop("never seen", 5)

    await until(lambda: told)
    assert told == ["goes on"]


async def test_a_run_added_while_another_expires_gets_its_own_time(told):
    def expired(run: str) -> None:
        told.append(run)
        if run == "first":
            deadlines.add("second", 0.001)

    deadlines: TimeLimits[str] = TimeLimits(expired)
    deadlines.add("first", 0.001)

    await until(lambda: len(told) == 2)
    assert told == ["first", "second"]
