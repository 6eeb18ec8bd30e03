"""Forked runs: each starts from a clean state and ends as a spawned run does."""

import os
import signal
from dataclasses import replace

import pytest

from tests.databases.servers.cleanup import is_running
from tests.support.wait import until
from tests.worker.builders import Run, a_lease
from tests.worker.isolation.preload_handlers import warm
from tests.worker.isolation.process_handlers import far
from tests.worker.isolation.test_process import (  # the same promises, kept by a run that was forked
    test_a_failed_run_reports_its_error,
    test_a_huge_error_is_clipped,
    test_a_run_may_snooze,
    test_a_run_stopped_while_its_process_starts_leaves_no_process,
    test_a_thread_left_running_does_not_delay_the_exit,
    test_an_async_handler_sees_its_cancellation_and_its_last_lines_are_stored,
    test_logs_and_results_of_any_size_arrive,
    test_printed_output_of_a_handler_is_flushed,
)
from tests.worker.isolation.thread_at_import import threaded
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.process import ProcessRunner

__all__ = [
    "test_a_failed_run_reports_its_error",
    "test_a_huge_error_is_clipped",
    "test_a_run_may_snooze",
    "test_a_run_stopped_while_its_process_starts_leaves_no_process",
    "test_a_thread_left_running_does_not_delay_the_exit",
    "test_an_async_handler_sees_its_cancellation_and_its_last_lines_are_stored",
    "test_logs_and_results_of_any_size_arrive",
    "test_printed_output_of_a_handler_is_flushed",
]

HANGS = """
import os, pathlib, time
pathlib.Path({path!r}).write_text(str(os.getpid()))
time.sleep(600)
"""
HANDLERS = {**far.handlers, **warm.handlers, **threaded.handlers}


@pytest.fixture
async def fork_servers():
    fork_servers = ForkServerPool()
    yield fork_servers
    await fork_servers.close()


@pytest.fixture
def run(storage, fork_servers):
    async def begin(key, payload="{}", **job):
        lease = await a_lease(storage, payload, **job)
        return Run(lease, HANDLERS[key], children=ProcessRunner(fork_servers))

    return begin


@pytest.fixture
def result(run):
    async def of(key, **payload):
        finish = await (await run(key, dump_json(payload))).end()
        assert finish.state is JobState.COMPLETED, finish
        return load_json(finish.result or "null")

    return of


async def test_a_forked_run_sees_no_state_of_earlier_runs(result):
    first = await result("look", note="a")
    second = await result("look", note="b")

    assert (first["seen"], second["seen"]) == (["a"], ["b"])
    assert set(first["pids"][:2]).isdisjoint(second["pids"][:2])


async def test_runs_are_forked_from_one_fork_server(result, fork_servers):
    (_, _, first), (_, _, second) = [(await result("look", note="a"))["pids"] for _ in range(2)]

    assert first == second
    assert is_running(first)
    assert len(fork_servers) == 1


async def test_exit_handlers_of_the_import_do_not_run_in_a_forked_run(result, tmp_path):
    await result("leave", path=str(tmp_path / "left"))

    assert (await result("look", note="a"))["folder"], "the module's folder is still there"
    assert (tmp_path / "left").read_text() == "left", "what a handler wants done at exit is done"


async def test_a_changed_environment_starts_a_new_fork_server(result, monkeypatch):
    before = await result("variable", name="WINDLASS_TEST_SAID")
    monkeypatch.setenv("WINDLASS_TEST_SAID", "hello")

    assert (before, await result("variable", name="WINDLASS_TEST_SAID")) == (None, "hello")


async def test_a_module_that_starts_a_thread_is_not_forked(result, fork_servers):
    for _ in range(2):
        own, imported_by, threads = await result("threaded")

        assert (own, threads) == (imported_by, 2)
    assert len(fork_servers) == 0


async def test_a_killed_fork_server_is_replaced(result):
    (_, _, first) = (await result("look", note="a"))["pids"]

    os.kill(first, signal.SIGKILL)

    (_, _, second) = (await result("look", note="b"))["pids"]
    assert first != second


async def test_idle_fork_servers_end(result, fork_servers):
    (_, _, fork_server) = (await result("look", note="a"))["pids"]

    fork_servers._idle_seconds = 0
    fork_servers.sweep()

    await until(lambda: not is_running(fork_server))
    assert len(fork_servers) == 0


async def test_the_number_of_fork_servers_is_limited(result, fork_servers, monkeypatch):
    fork_servers._most = 2
    for number in range(4):
        monkeypatch.setenv("WINDLASS_TEST_SAID", str(number))

        assert await result("variable", name="WINDLASS_TEST_SAID") == str(number)

    assert len(fork_servers) == 2


async def test_fork_servers_end_with_the_worker(result, fork_servers):
    (_, _, fork_server) = (await result("look", note="a"))["pids"]

    await fork_servers.close()

    await until(lambda: not is_running(fork_server))


@pytest.mark.parametrize("how", ["in C", "in a loop"])
async def test_a_handler_that_hangs_is_ended_at_its_time_limit(run, tmp_path, how):
    begun = tmp_path / "begun"
    one = await run("hang", dump_json({"path": str(begun), "how": how}))
    await until(begun.exists)

    one.attempt.stop("timed_out")
    finish = await one.end()

    assert finish.outcome is Outcome.TIMED_OUT
    await until(lambda: not is_running(int(begun.read_text())))


async def test_a_module_whose_import_hangs_is_ended_with_the_run_that_waited(
    storage, fork_servers, tmp_path
):
    begun = tmp_path / "begun"
    file = tmp_path / "hangs.py"
    file.write_text(HANGS.format(path=str(begun)), "utf-8")
    handler = replace(warm.handlers["hang"], import_location=("__main__", str(file), "hang"))
    lease = await a_lease(storage, dump_json({"path": "", "how": ""}))
    one = Run(lease, handler, children=ProcessRunner(fork_servers))
    pid = int(await until(lambda: begun.exists() and begun.read_text()))

    one.attempt.stop("timed_out")

    assert (await one.end()).outcome is Outcome.TIMED_OUT
    await until(lambda: not is_running(pid))
    assert len(fork_servers) == 0


@pytest.mark.parametrize("reason", ["canceled", "timed_out", "shutdown", "lost"])
async def test_a_stop_ends_all_processes_of_a_run(run, tmp_path, reason):
    one, pids = await a_family(run, tmp_path)

    one.attempt.stop(reason)
    await one.end()

    await until(lambda: not any(map(is_running, pids[:3])))
    assert is_running(pids[3]), "the fork server goes on"


@pytest.mark.parametrize("then", ["return", "kill the supervisor"])
async def test_processes_started_by_a_run_end_with_it(run, tmp_path, then):
    one, pids = await a_family(run, tmp_path, then)

    await one.end()

    await until(lambda: not any(map(is_running, pids[:3])))
    assert is_running(pids[3]), "the fork server goes on"


async def a_family(run, tmp_path, then="wait"):
    path = tmp_path / "pids"
    one = await run("family", dump_json({"path": str(path), "then": then}))
    await until(path.exists)
    return one, [int(pid) for pid in path.read_text().split()]
