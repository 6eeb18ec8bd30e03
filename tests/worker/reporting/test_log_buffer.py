"""The buffer of log lines is bounded, keeps their order, and keeps lines until they are written."""

import threading

import pytest

from windlass import clock
from windlass.core.jobs.models import LogLine
from windlass.core.leases.lease import LeaseRef
from windlass.ids import new_job_id
from windlass.worker.reporting import log_buffer as module
from windlass.worker.reporting.log_buffer import LineBuffer

ONE, OTHER = LeaseRef(new_job_id(), 1), LeaseRef(new_job_id(), 1)


@pytest.fixture
def buffer():
    return LineBuffer()


def add(buffer, held, *messages):
    for message in messages:
        buffer.add(
            LogLine(
                job_id=held.job_id,
                attempt=held.token,
                level="info",
                message=message,
                at=clock.utcnow(),
            )
        )


def messages(lines):
    return [line.message for line in lines]


def test_lines_of_a_failed_write_are_put_back(buffer):
    add(buffer, ONE, "a", "b", "c")

    assert messages(buffer.begin_write(2)) == ["a", "b"]
    buffer.undo_write()

    assert messages(buffer.begin_write(3)) == ["a", "b", "c"]


def test_lines_count_as_unwritten_until_they_are_written(buffer):
    add(buffer, ONE, "a")
    add(buffer, OTHER, "b")

    buffer.begin_write(1)
    assert ONE in buffer.unwritten
    buffer.end_write()

    assert ONE not in buffer.unwritten
    assert OTHER in buffer.unwritten
    assert buffer.unwritten


def test_the_lines_of_one_lease_can_be_taken_and_put_back(buffer):
    add(buffer, ONE, "a")
    add(buffer, OTHER, "b")
    add(buffer, ONE, "c")

    taken = buffer.take(ONE)
    assert messages(taken) == ["a", "c"]
    assert ONE not in buffer.unwritten
    buffer.put_back(taken)

    assert ONE in buffer.unwritten
    assert messages(buffer.begin_write(9)) == ["a", "c", "b"]


def test_the_buffer_stays_bounded_with_many_threads_and_counts_dropped_lines(buffer, monkeypatch):
    monkeypatch.setattr(module, "MOST_LINES", 50)
    threads = [
        threading.Thread(target=add, args=(buffer, ONE, *map(str, range(200)))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(buffer) == 50
    assert buffer.take_dropped() == 950
    assert buffer.take_dropped() == 0
    buffer.begin_write(50)
    buffer.end_write()
    assert not buffer.unwritten
