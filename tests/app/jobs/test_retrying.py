"""Exceptions that decide when a job runs again: retry_on, permanent, Retry and Snooze."""

from datetime import timedelta

import pytest

from tests.support.processes.process_handlers import elsewhere, fail_as, rules
from tests.support.wait import until
from windlass import Retry, Snooze, Windlass
from windlass.core.jobs.models import Job
from windlass.core.jobs.states import JobState
from windlass.errors import DefinitionInvalid, OptionInvalid

HOUR, MINUTES = timedelta(hours=1), timedelta(minutes=5)


def declare(wl: Windlass, kind: str) -> None:
    match kind:
        case "async":

            @wl.job("process.retry", **rules())
            async def fail_async(how: str) -> None:
                fail_as(how)

        case "thread":
            wl.job("process.retry", **rules())(fail_as)
        case "process":
            wl.handlers.add(elsewhere.handlers["process.retry"])


async def first_attempt(wl: Windlass, how: str, **options) -> Job:
    receipt = await wl.enqueue("process.retry", {"how": how}, **options)

    async def attempted() -> bool:
        return any(attempt.outcome for attempt in await wl.jobs.attempts(receipt.job_id))

    async with wl.running():
        await until(attempted, waiting_for="the first attempt to end")
    return await wl.jobs.get(receipt.job_id)


@pytest.mark.parametrize("kind", ["async", "thread", "process"])
@pytest.mark.parametrize(
    ("how", "delay", "error_class"),
    [
        ("listed", HOUR, "transient"),
        ("other", None, "permanent"),
        ("both", None, "permanent"),
        ("retry", MINUTES, "transient"),
        ("plain retry", HOUR, "transient"),
    ],
)
async def test_a_failed_attempt_is_tried_again_as_its_exception_says(
    wl, kind, how, delay, error_class
):
    declare(wl, kind)

    job = await first_attempt(wl, how)

    [attempt] = await wl.jobs.attempts(job.id)
    assert (job.attempts, attempt.error_class) == (1, error_class)
    if delay is None:
        assert job.state is JobState.DEAD_LETTER
    else:
        assert job.state is JobState.QUEUED
        assert abs(job.due_at - attempt.finished_at - delay) < timedelta(seconds=30)


@pytest.mark.parametrize("kind", ["async", "thread", "process"])
async def test_a_snooze_counts_no_attempt(wl, kind):
    declare(wl, kind)

    job = await first_attempt(wl, "snooze", max_attempts=1)

    [attempt] = await wl.jobs.attempts(job.id)
    assert (job.state, job.attempts, attempt.outcome) == (JobState.QUEUED, 0, "released")
    assert abs(job.due_at - attempt.finished_at - MINUTES) < timedelta(seconds=30)


async def test_a_retry_in_the_last_attempt_leads_to_the_dead_letter(wl):
    declare(wl, "async")

    job = await first_attempt(wl, "retry", max_attempts=1)

    assert (job.state, job.last_error) == (
        JobState.DEAD_LETTER,
        "Retry: busy",
    )


def test_a_delay_that_is_none_is_refused_where_it_is_given():
    with pytest.raises(OptionInvalid, match="after"):
        Retry(after="soon")
    with pytest.raises(OptionInvalid, match="snooze"):
        Snooze("soon")


def test_retry_on_takes_exception_classes():
    wl = Windlass("sqlite:///never-opened.db")

    with pytest.raises(DefinitionInvalid, match="a list of exception classes"):
        wl.job("bad", retry_on=["ConnectionError"])(fail_as)
