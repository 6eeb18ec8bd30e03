"""Memory limits of runs, and the report of a run that exceeded one."""

import re

import pytest

from tests.worker.builders import Run, a_lease
from tests.worker.isolation.preload_handlers import warm
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.json_text import dump_json
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
async def test_a_handler_above_its_memory_limit_fails_with_that_reason(eat, how):
    finish = await eat(mb=200, how=how)

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.QUEUED)
    assert finish.error == "the handler needed more than its 128 MB"
    assert finish.error_type == "MemoryLimit"
    assert "in eat" in finish.error_trace


async def test_a_handler_within_its_memory_limit_succeeds(eat):
    assert (await eat(mb=40)).result == "40"


async def test_a_mapped_file_does_not_count_as_memory(eat):
    assert (await eat(mb=500, how="pages")).result == str(500 * 1024 * 1024)


async def test_a_crash_is_reported_with_signal_and_peak_memory(eat):
    finish = await eat(mb=60, how="and crash")

    said = re.fullmatch(
        r"the handler's process died: signal SIGSEGV, peak memory (\d+) MB of 128 MB allowed",
        finish.error,
    )
    assert said, finish.error
    assert int(said[1]) > 20
    assert finish.exit_code == -11


def test_a_kill_by_the_oom_killer_is_reported():
    ended = {"code": -9, "pid": 7, "peak_mb": 900, "out_of_memory": True}

    assert exit_failure(ended, limit_mb=None).error == (
        "the handler's process died: signal SIGKILL,"
        " killed because the system ran out of memory, peak memory 900 MB"
    )


def test_oom_kills_are_read_from_the_control_group(tmp_path, monkeypatch):
    events = tmp_path / "memory.events"
    events.write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    monkeypatch.setattr(memory, "_group_events", lambda: events)

    assert memory.oom_kills() == 2


def test_oom_kills_are_read_from_the_machine_without_a_control_group(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_group_events", lambda: tmp_path / "none")

    assert memory.oom_kills() >= 0
