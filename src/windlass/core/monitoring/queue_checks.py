"""Rules of `windlass doctor` about the queue: workers, schedules and the dead letter."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from windlass.core.monitoring.checks import Check, broken, ok, warning
from windlass.errors.wording import counted, listed

#: Jobs dead-lettered within an hour that are worth a warning, and how much above the day's mean.
_DEAD_LETTERS, _GROWTH = 10, 3
_NAMED = 3


class QueuedJobs(NamedTuple):
    """Queued jobs of a definition in a queue."""

    queue: str
    definition: str
    jobs: int


class WorkerCoverage(NamedTuple):
    """Queues and definitions that a live worker serves; no queues means all."""

    queues: Sequence[str]
    definitions: Sequence[str]

    def serves(self, waiting: QueuedJobs) -> bool:
        return waiting.definition in self.definitions and (
            not self.queues or waiting.queue in self.queues
        )


def workers(
    liveness: Mapping[str, str], *, queued: int, draining: Sequence[str] = ()
) -> list[Check]:
    """Check whether a worker runs the jobs; `liveness` is that of each worker, and `draining` names
    those that are live and claim no more."""
    live = [name for name, how in liveness.items() if how == "live"]
    silent = [name for name, how in liveness.items() if how != "live"]
    checks = []
    if live and len(draining) == len(live):
        checks.append(
            (broken if queued else warning)(
                "workers",
                f"No worker takes jobs: {_some(draining)} {'drains' if len(live) == 1 else 'drain'}.",
                f"windlass workers resume {draining[0]}, or start another: windlass worker",
            )
        )
    elif live:
        checks.append(ok("workers", f"{counted(len(live), 'worker')} live."))
    elif queued:
        checks.append(
            broken(
                "workers", f"No worker is running; {_wait(queued)}.", "Start one: windlass worker"
            )
        )
    else:
        checks.append(warning("workers", "No worker is running.", "Start one: windlass worker"))
    if silent:
        checks.append(
            warning(
                "stale_workers",
                f"{counted(len(silent), 'worker')} not seen lately: {_some(silent)}.",
                "Look at their machines; other workers take their jobs back. A lost worker is removed "
                "after a day.",
            )
        )
    return checks


def unserved(waiting: Sequence[QueuedJobs], serving: Sequence[WorkerCoverage]) -> list[Check]:
    """Check whether every queued job has a live worker that knows its definition and serves its queue.
    Without any worker it reports nothing: `workers` does."""
    if not serving:
        return []
    left = [each for each in waiting if not any(worker.serves(each) for worker in serving)]
    if not left:
        return [ok("unserved", "Every definition with jobs in line has a live worker.")]
    names = [f"{each.definition} in {each.queue} ({each.jobs:,})" for each in left]
    jobs = counted(sum(each.jobs for each in left), "queued job")
    return [
        broken(
            "unserved",
            f"No live worker serves {jobs}: {_some(names)}.",
            "Start a worker that imports these definitions and serves these queues.",
        )
    ]


def schedules(late: int) -> Check:
    """Check whether schedules fire when they are due."""
    if not late:
        return ok("schedules", "No schedule is late.")
    return warning(
        "schedules",
        f"{counted(late, 'schedule')} late by more than a minute.",
        "Start a worker, or `windlass scheduler`: without one they do not fire.",
    )


def dead_letter(*, hour: int, day: int, most: Sequence[str], muted: int = 0) -> Check:
    """Check whether the dead letter grows faster than before; `most` are the definitions it grows by.
    Jobs of `muted` causes are not counted."""
    besides = f" {counted(muted, 'job')} of muted causes not counted." if muted else ""
    if hour < _DEAD_LETTERS or hour * 24 <= _GROWTH * day:
        return ok(
            "dead_letter",
            f"{counted(hour, 'job')} failed for good in the last hour, {day:,} in the last day.{besides}",
        )
    return warning(
        "dead_letter",
        f"The dead letter grows: {hour:,} of the day's {day:,} jobs came within the hour, most of "
        f"{_some(most) or 'definitions unknown'}.{besides}",
        "See the causes: windlass dead groups",
    )


def _wait(queued: int) -> str:
    return f"{counted(queued, 'job')} {'waits' if queued == 1 else 'wait'}"


def _some(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return listed([*names[:_NAMED], *more]) if names else ""
