"""The clocks: wall time in UTC, and monotonic time."""

from datetime import UTC, timedelta

from windlass import clock


def test_the_time_is_aware_and_in_utc():
    assert clock.utcnow().tzinfo is UTC


def test_both_wall_clock_readings_agree():
    assert abs(clock.utcnow().timestamp() * 1000 - clock.unix_ns() / 1_000_000) < timedelta(
        minutes=1
    ) / timedelta(milliseconds=1)


def test_monotonic_time_never_decreases():
    first = clock.monotonic()

    assert clock.monotonic() >= first
