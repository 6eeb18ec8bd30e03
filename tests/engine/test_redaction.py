"""Long text is redacted beside the event loop, short text on it."""

import threading

import pytest

from windlass.engine.redaction import run_in_thread_if_long


@pytest.mark.parametrize(
    ("value", "same_thread"),
    [
        ("a" * 1_000, True),
        ({"a": ["b"] * 100, "c": 1}, True),
        ("a" * 20_000, False),
        ({"a": ["bcd" * 10] * 1_000}, False),
        ([1] * 20_000, False),
        ({"k" * 20_000: 1}, False),
    ],
    ids=["text", "value", "long text", "long value", "many values", "long names"],
)
async def test_only_long_values_leave_the_event_loop(value, same_thread):
    ran_in = await run_in_thread_if_long(threading.get_ident, value)

    assert (ran_in == threading.get_ident()) is same_thread
