"""What a run may use, and what is told of one that used too much."""

import re

import pytest

from tests.worker.builders import Run, a_lease
from tests.worker.isolation.preload_handlers import warm
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.payload import dump_json
from windlass.worker.isolation import memory
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.process import ProcessRunner, exit_failure


@pytest.fixture(params=["fresh", "warm"])
async def eat(request, storage):
    children = ProcessRunner(ForkServerPool() if request.param == "warm" else None)

    async def end(**payload):
        lease = await a_lease(storage, dump_json(payload))
        return await Run(lease, warm.handlers["eat"], children=children).end()

    yield end
    await children.close()


@pytest.mark.parametrize("how", ["bytes", "bit by bit"])
async def test_a_handler_that_needs_more_than_its_limit_fails_and_is_told_so(eat, how):
    finish = await eat(mb=200, how=how)

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.QUEUED)
    assert finish.error == "the handler needed more than its 128 MB"
    assert finish.error_type == "MemoryLimit"
    assert "in eat" in finish.error_trace


async def test_a_handler_within_its_limit_succeeds(eat):
    assert (await eat(mb=40)).result == "40"


async def test_a_file_that_is_read_by_mapping_it_does_not_count(eat):
    assert (await eat(mb=500, how="pages")).result == str(500 * 1024 * 1024)


async def test_a_death_is_told_with_its_signal_and_the_memory_it_took(eat):
    finish = await eat(mb=60, how="and crash")

    said = re.fullmatch(
        r"the handler's process died: signal SIGSEGV, peak memory (\d+) MB of 128 MB allowed",
        finish.error,
    )
    assert said, finish.error
    assert int(said[1]) > 20
    assert finish.exit_code == -11


def test_a_death_by_the_kernels_hand_is_told():
    ended = {"code": -9, "pid": 7, "peak_mb": 900, "out_of_memory": True}

    assert exit_failure(ended, limit_mb=None).error == (
        "the handler's process died: signal SIGKILL,"
        " killed because the system ran out of memory, peak memory 900 MB"
    )


def test_kills_are_counted_in_our_group_where_it_counts_them(tmp_path, monkeypatch):
    events = tmp_path / "memory.events"
    events.write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    monkeypatch.setattr(memory, "_group_events", lambda: events)

    assert memory.oom_kills() == 2


def test_kills_are_counted_for_the_machine_where_our_group_does_not_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_group_events", lambda: tmp_path / "none")

    assert memory.oom_kills() >= 0
