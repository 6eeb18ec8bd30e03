"""One attempt: whatever a handler does, it has exactly one outcome, the right one."""

import asyncio
import threading
from base64 import b64encode
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import quote

import pytest

from tests.worker.builders import Run, a_handler, a_lease
from windlass import Backoff, JobContext, Permanent
from windlass.core.jobs.states import JobState, Outcome
from windlass.worker import attempt as module
from windlass.worker.reporting.error_text import format_error_traceback


@pytest.fixture
def run(storage):
    async def begin(function, payload="{}", around=(), job=None, **options):
        lease = await a_lease(storage, payload, **(job or {}))
        return Run(lease, a_handler(function, **options), around)

    return begin


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.02)


async def test_the_return_value_of_a_handler_is_its_result(run):
    async def add(one: int, two: int) -> int:
        return one + two

    finish = await (await run(add, '{"one": 1, "two": 2}')).end()

    assert (finish.outcome, finish.state) == (Outcome.SUCCEEDED, JobState.COMPLETED)
    assert finish.result == "3"


async def test_a_failure_is_retried_after_its_backoff(run):
    def fail() -> None:
        raise LookupError("not here")

    finish = await (await run(fail, backoff=Backoff(kind="fixed", base=7, jitter=0))).end()

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.QUEUED)
    assert finish.delay == timedelta(seconds=7)
    assert (finish.error, finish.error_type) == ("LookupError: not here", "LookupError")


async def test_a_trace_begins_with_the_handler(run):
    def fail() -> None:
        raise LookupError("not here")

    finish = await (await run(fail)).end()

    assert "in fail" in finish.error_trace
    assert "threads.py" not in finish.error_trace


async def test_frames_of_a_users_module_with_windlass_in_its_name_stay():
    scope = {"__name__": "shop.windlass"}
    exec("def fail(): raise LookupError('x')", scope)
    try:
        scope["fail"]()
    except LookupError as error:
        trace = format_error_traceback(error)

    assert "in fail" in trace


@pytest.mark.parametrize(
    ("error", "permanent"), [(Permanent("never"), ()), (KeyError("x"), (KeyError,))]
)
async def test_a_permanent_error_is_not_retried(run, error, permanent):
    async def fail() -> None:
        raise error

    finish = await (await run(fail, permanent=permanent)).end()

    assert finish.state is JobState.DEAD_LETTER


async def test_the_last_attempt_ends_in_the_dead_letter(run):
    async def fail() -> None:
        raise LookupError

    finish = await (await run(fail, job={"max_attempts": 1})).end()

    assert finish.state is JobState.DEAD_LETTER
    assert finish.error == "LookupError"


class Nasty(Exception):
    def __str__(self):
        raise RuntimeError("nobody shall know")


@pytest.mark.parametrize("error", [Nasty(), SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
async def test_any_exception_is_an_outcome(run, error):
    async def fail() -> None:
        raise error

    finish = await (await run(fail)).end()

    assert finish.outcome is Outcome.FAILED
    assert finish.error


async def test_a_cancellation_raised_by_the_handler_is_a_failure(run):
    async def fail() -> None:
        raise asyncio.CancelledError

    finish = await (await run(fail)).end()

    assert (finish.outcome, finish.error_type) == (
        Outcome.FAILED,
        "asyncio.exceptions.CancelledError",
    )


async def test_secrets_of_the_payload_are_hidden_in_logs_in_every_encoding(run):
    async def tell(ctx: JobContext, password: str) -> None:
        raw = password.encode()
        ctx.log.info(" ".join([password, raw.hex(), b64encode(raw).decode()]))
        ctx.progress(0.5, f"with {quote(password)}")
        raise RuntimeError(b64encode(b"user:" + raw + b"!").decode())

    one = await run(tell, '{"password": "love lace!"}')
    finish = await one.end()

    assert one.sink.lines == [("info", "••• ••• •••", {})]
    assert one.sink.steps == [(0.5, "with •••")]
    assert finish.error == "RuntimeError: dXNlcjp•••IQ=="


async def test_an_error_of_any_length_is_redacted_in_bounded_work(run):
    async def fail(password: str) -> None:
        raise RuntimeError(f"{password} " + "x" * 10_000_000 + f" {password}")

    finish = await (await run(fail, '{"password": "lovelace"}')).end()

    assert finish.error.startswith("RuntimeError: ••• xxx")
    assert finish.error.endswith("xxx •••")
    assert "characters left out" in finish.error
    assert len(finish.error) < 100_000


async def test_secrets_of_the_payload_are_redacted_in_errors(run):
    async def fail(user: str, password: str) -> None:
        raise PermissionError(f"{user} may not log in with {password}")

    finish = await (await run(fail, '{"user": "ada", "password": "lovelace"}')).end()

    assert finish.error == "PermissionError: ada may not log in with •••"
    assert "lovelace" not in finish.error_trace


async def test_an_unreadable_payload_is_an_ordinary_failure(run):
    async def handler() -> None: ...

    finish = await (await run(handler, '{"n": 1e999}')).end()

    assert finish.outcome is Outcome.FAILED
    assert "beyond the range of a double" in finish.error


async def test_a_snoozed_job_is_handed_back_until_later(run):
    def wait(ctx: JobContext) -> None:
        try:
            ctx.snooze("2m")
        except Exception:
            pytest.fail("a handler's own except must not swallow it")

    finish = await (await run(wait)).end()

    assert (finish.outcome, finish.delay) == (Outcome.RELEASED, timedelta(minutes=2))


async def test_around_hooks_see_begin_and_end(run):
    seen = []

    @asynccontextmanager
    async def around(ctx):
        seen.append("in")
        yield
        seen.append("out")

    async def handler() -> None:
        seen.append("handler")

    await (await run(handler, around=[around])).end()

    assert seen == ["in", "handler", "out"]


async def test_an_exception_of_an_around_hook_is_the_outcome(run):
    @asynccontextmanager
    async def around(ctx):
        yield
        raise OSError("commit failed")

    async def handler() -> None: ...

    finish = await (await run(handler, around=[around])).end()

    assert (finish.outcome, finish.error) == (Outcome.FAILED, "OSError: commit failed")


async def waiting() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("timed_out", Outcome.TIMED_OUT),
        ("canceled", Outcome.CANCELED),
        ("shutdown", Outcome.RELEASED),
    ],
)
async def test_a_run_that_stops_has_the_outcome_of_the_stop_reason(run, reason, outcome):
    one = await run(waiting)
    await asyncio.sleep(0)

    one.attempt.stop(reason)

    assert (await one.end()).outcome is outcome


async def test_a_run_that_lost_its_lease_reports_nothing(run):
    one = await run(waiting)
    await asyncio.sleep(0)

    one.attempt.stop("canceled")
    one.attempt.stop("lost")

    assert await one.end() is None


async def test_the_time_limit_of_a_job_overrides_its_definitions(run):
    one = await run(waiting, timeout="1h", job={"timeout_seconds": 0.02})

    finish = await one.end()

    assert finish.outcome is Outcome.TIMED_OUT
    assert finish.error == "Job exceeded timeout of 0.02s"


@pytest.mark.parametrize(
    ("seconds", "text"), [(300.0, "300s"), (1.5, "1.5s"), (1_234_567.0, "1234567s")]
)
async def test_a_timeout_error_names_the_seconds(run, seconds, text):
    one = await run(waiting, job={"timeout_seconds": seconds})
    await asyncio.sleep(0)

    one.attempt.stop("timed_out")

    assert (await one.end()).error == f"Job exceeded timeout of {text}"


async def test_a_run_that_swallows_its_cancellation_is_written_off(run, impatient):
    gate = asyncio.Event()

    async def stubborn() -> None:
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue

    one = await run(stubborn)
    await asyncio.sleep(0)
    one.attempt.stop("timed_out")
    finish = await one.end()
    stuck = one.attempt.stuck
    gate.set()

    assert finish.outcome is Outcome.TIMED_OUT
    assert stuck
    assert await one.end() is None, "the late end reports nothing"
    assert one.attempt.late


@pytest.fixture
async def deaf(run):
    """A thread that does not listen."""
    gate = threading.Event()

    def block() -> None:
        gate.wait()

    one = await run(block)
    await asyncio.sleep(0)
    yield one
    gate.set()


async def test_a_canceled_thread_may_take_its_time(deaf, impatient):
    deaf.attempt.stop("canceled")

    with pytest.raises(TimeoutError):
        await deaf.end(within=0.1)


@pytest.mark.parametrize("then", ["timed_out", "shutdown"])
async def test_a_canceled_thread_is_written_off_at_its_time_limit_or_shutdown(
    deaf, impatient, then
):
    deaf.attempt.stop("canceled")
    deaf.attempt.stop(then)

    finish = await deaf.end()

    assert finish.outcome is Outcome.CANCELED
    assert deaf.attempt.stuck


async def test_a_run_that_recorded_its_own_end_is_marked_so(run):
    async def handler(ctx: JobContext) -> None:
        await ctx.complete(object(), result=1)

    one = await run(handler)
    finish = await one.end()

    assert one.sink.completed == [1]
    assert finish.maybe_recorded
    assert finish.error == "ctx.complete was called, but its transaction was not committed"


async def test_the_number_of_warnings_is_limited(run):
    async def handler(ctx: JobContext) -> None:
        for _ in range(500):
            ctx.warn("x" * 10_000)

    finish = await (await run(handler)).end()

    assert finish.state is JobState.COMPLETED
    assert len(finish.warnings) < 120_000
