"""Detection of a clock that was wrong."""

from datetime import UTC, datetime, timedelta

import pytest

from windlass.core.leases.wrong_clock import clock_jump, corrected_run, written_ahead
from windlass.core.monitoring.database_checks import stopped_writers
from windlass.core.triggers.schedule import cron, every, init, once

NOW = datetime(2026, 3, 1, 12, 10, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = (
    timedelta(**{unit: 1}) for unit in ("seconds", "minutes", "hours", "days")
)


@pytest.mark.parametrize(("schedule", "due_in", "corrected_in"), [
    (every("1h"), 40 * MINUTE, 40 * MINUTE),
    (every("1h"), HOUR + 30 * SECOND, HOUR + 30 * SECOND),
    (every("1h"), DAY, HOUR),
    (cron("0 * * * *"), 50 * MINUTE, 50 * MINUTE),
    (cron("0 * * * *"), 50 * MINUTE + DAY, 50 * MINUTE),
    (cron("0 * * * *"), -10 * MINUTE, -10 * MINUTE),
    (once(NOW + DAY), DAY, DAY),
    (init(), DAY, DAY),
])  # fmt: skip
def test_a_schedule_is_due_no_later_than_counted_from_now(schedule, due_in, corrected_in):
    assert corrected_run(schedule, NOW + due_in, NOW) == NOW + corrected_in


def test_a_clock_jump_is_distinguished_from_drift():
    assert clock_jump(DAY, DAY + SECOND) is None
    assert clock_jump(DAY, DAY + HOUR) == HOUR
    assert clock_jump(DAY, DAY - HOUR) == -HOUR


def test_doctor_warns_of_rows_dated_in_the_future():
    assert (written_ahead(SECOND).level, written_ahead(DAY).level) == ("ok", "warning")


def test_doctor_names_stopped_processes_that_block_writers():
    one, two = stopped_writers(["process 7 (python)"]), stopped_writers(["process 7", "process 8"])

    assert stopped_writers([]).level == "ok"
    assert (one.level, two.level) == ("broken", "broken")
    assert "process 7 (python) is stopped" in one.sentence
    assert "are stopped" in two.sentence
