"""Process-isolated runs: their reports arrive, and they can always be ended."""

import asyncio
from dataclasses import replace

import pytest

from tests.databases.servers.cleanup import is_running
from tests.support.wait import until
from tests.worker.builders import Run, a_lease
from tests.worker.isolation.process_handlers import far
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.json_text import load_json
from windlass.engine.leases.leases import ERROR_BYTES, LINE_BYTES
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.process import ProcessRunner


@pytest.fixture
def run(storage):
    async def begin(key, payload="{}", **job):
        lease = await a_lease(storage, payload, **job)
        return Run(lease, far.handlers[key])

    return begin


async def test_logs_and_results_of_any_size_arrive(run):
    one = await run("tell")

    finish = await one.end()

    assert finish.state is JobState.COMPLETED
    result = load_json(finish.result)
    assert result["job"] == str(one.attempt.held.job_id)
    assert (result["fence"], result["tags"], len(result["text"])) == (1, ["a"], 1000)
    assert "one thing was left out" in finish.warnings
    (first, second) = one.sink.lines
    assert first == ("info", "hello", {"number": 1})
    assert second[0] == "warn"
    assert len(second[1].encode()) <= LINE_BYTES
    assert one.sink.steps == [(0.5, "half")]


@pytest.mark.parametrize(
    ("how", "error", "kind", "state"),
    [
        ("exit", "the handler's process died: exit code 7", "ProcessDied", JobState.QUEUED),
        ("kill", "the handler's process died: signal SIGKILL", "ProcessDied", JobState.QUEUED),
        (
            "supervisor",
            "the handler's process died: signal SIGKILL",
            "ProcessDied",
            JobState.QUEUED,
        ),
        ("sys.exit", "SystemExit: sys.exit", "SystemExit", JobState.QUEUED),
        (
            "permanent",
            "Permanent: never",
            "windlass.errors.handlers.Permanent",
            JobState.DEAD_LETTER,
        ),
        ("listed", "LookupError: listed", "LookupError", JobState.DEAD_LETTER),
    ],
)
async def test_a_failed_run_reports_its_error(run, how, error, kind, state):
    finish = await (await run("fail", f'{{"how": "{how}"}}')).end()

    assert (finish.outcome, finish.state) == (Outcome.FAILED, state)
    assert (finish.error.partition(", peak memory")[0], finish.error_type) == (error, kind)
    assert finish.pid


@pytest.mark.parametrize("name", ["says exit", "hides its class", "StopIteration"])
async def test_an_exception_of_any_kind_arrives(run, name):
    finish = await (await run("bad error", f'{{"name": "{name}"}}')).end(within=60)

    assert finish.outcome is Outcome.FAILED
    assert finish.error_type != "ProcessDied"
    assert finish.error


@pytest.mark.parametrize("name", ["within", "cyclic", "a generator without end"])
async def test_a_result_that_is_not_json_fails_the_attempt(run, name):
    finish = await (await run("bad result", f'{{"name": "{name}"}}')).end(within=60)

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.DEAD_LETTER)
    assert finish.error_type == "windlass.errors.jobs.ResultInvalid"


@pytest.mark.parametrize("name", ["log", "close stdout"])
async def test_a_run_that_exits_or_crashes_has_an_outcome(run, name):
    finish = await (await run("bad deed", f'{{"name": "{name}"}}')).end(within=60)

    assert (finish.outcome, finish.error_type) == (Outcome.FAILED, "LookupError")


async def test_a_run_that_closes_every_descriptor_fails_as_died(run):
    finish = await (await run("close everything")).end(within=60)

    assert (finish.outcome, finish.error_type) == (Outcome.FAILED, "ProcessDied")


async def test_a_huge_error_is_clipped(run):
    finish = await (await run("fail", '{"how": "huge"}')).end()

    assert finish.error_type == "ValueError"
    assert len(finish.error.encode()) <= ERROR_BYTES


async def test_a_run_may_snooze(run):
    finish = await (await run("snooze")).end()

    assert (finish.outcome, finish.delay.total_seconds()) == (Outcome.RELEASED, 90)


async def test_an_async_handler_sees_its_cancellation_and_its_last_lines_are_stored(run, tmp_path):
    begun = tmp_path / "begun"
    one = await run("wait", f'{{"path": "{begun}"}}')
    await until(lambda: begun.exists() and begun.read_text())

    one.attempt.stop("canceled")
    finish = await one.end()

    assert finish.outcome is Outcome.CANCELED
    assert [message for _, message, _ in one.sink.lines] == ["told to stop"]
    assert not is_running(int(begun.read_text()))


async def test_a_run_is_killed_after_its_declared_grace(run, tmp_path):
    begun = tmp_path / "begun"
    one = await run("deaf", f'{{"path": "{begun}"}}')
    await until(lambda: begun.exists() and begun.read_text())

    one.attempt.stop("timed_out")
    finish = await one.end()

    assert finish.outcome is Outcome.TIMED_OUT
    assert one.sink.lines == []
    assert not is_running(int(begun.read_text()))


async def test_a_run_stopped_while_its_process_starts_leaves_no_process(run):
    one = await run("wait", '{"path": "/nowhere/at/all"}')
    await asyncio.sleep(0)

    one.attempt.stop("shutdown")

    assert (await one.end()).outcome is Outcome.RELEASED


UNGUARDED = """
import asyncio
from windlass import Settings, Windlass

wl = Windlass("sqlite:///{database}", settings=Settings())

@wl.job(isolation="process")
def hello() -> None: ...

asyncio.run(hello.enqueue())
"""


@pytest.mark.parametrize("warm", [False, True])
async def test_a_script_without_a_main_guard_is_not_run_again_in_a_child(storage, tmp_path, warm):
    script, database = tmp_path / "script.py", tmp_path / "jobs.db"
    script.write_text(UNGUARDED.format(database=database))
    handler = replace(far.handlers["snooze"], import_location=("__main__", str(script), "hello"))
    fork_servers = ForkServerPool() if warm else None

    finish = await Run(await a_lease(storage), handler, children=ProcessRunner(fork_servers)).end(
        within=60
    )
    if fork_servers:
        await fork_servers.close()

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.DEAD_LETTER)
    assert finish.error_type.endswith("MainGuardMissing")
    assert 'if __name__ == "__main__":' in finish.error
    assert not database.exists()


async def test_a_thread_left_running_does_not_delay_the_exit(run):
    finish = await (await run("linger")).end()

    assert finish.result == '"done"'


async def test_printed_output_of_a_handler_is_flushed(run, tmp_path):
    output = tmp_path / "output"

    await (await run("print", f'{{"path": "{output}"}}')).end()

    assert output.read_text() == "printed\n"
