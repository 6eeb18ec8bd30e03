"""Windlass's own jobs: prune data past retention, correct counts, forget lost workers.

They are ordinary definitions, hidden from lists. Their jobs belong to the tenant `system`, with
logs and results like any other job.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from windlass.app.declare import declare
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import SYSTEM_KEYS, SYSTEM_QUEUE
from windlass.core.triggers.schedule import Schedule, cron
from windlass.engine.background_pacing import run_paced, run_paced_until_done
from windlass.engine.engine import Engine
from windlass.errors.wording import counted
from windlass.ids import JobId
from windlass.settings import Settings
from windlass.worker.context import JobContext
from windlass.worker.handlers import Handler

#: Run at a quiet hour; each uses at most a tenth of the database's time.
_NIGHTLY = cron("0 2 * * *", tz="UTC")
_LATER_AT_NIGHT = cron("30 2 * * *", tz="UTC")
#: A recount reads every job.
_WEEKLY = cron("0 3 * * 0", tz="UTC")
_FIRST = JobId(UUID(int=0))
_MOST_NAMED = 50

Counts = dict[str, int]


class SystemJobs:
    """The handlers; `engine` gives the engine of the loop they run in."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def handlers(self, settings: Settings) -> Iterator[Handler]:
        """All system handlers. Their rows do not depend on settings, so that processes with
        different settings agree."""
        for call, title, schedule in (
            (self.prune_jobs, "Prune jobs", _NIGHTLY),
            (self.prune_logs, "Prune logs", _NIGHTLY),
            (self.forget_workers, "Forget lost workers", _LATER_AT_NIGHT),
            (self.recount, "Recount jobs", _WEEKLY),
        ):
            yield _declare(call, title, schedule, settings)

    async def prune_jobs(self, ctx: JobContext) -> Counts:
        """Delete ended jobs past their retention or above their maximum count, with their attempts,
        history and logs; and events past retention."""
        retention = self._engine().retention
        jobs = await self._of_each_definition(ctx, retention.prune_jobs, "job")
        events = await run_paced_until_done(retention.prune_events, before=ctx.checkpoint)
        ctx.progress(1.0, f"pruned {counted(jobs, 'job')} and {counted(events, 'event')}")
        return {"jobs": jobs, "events": events}

    async def prune_logs(self, ctx: JobContext) -> Counts:
        """Delete log lines past retention, and those of deleted jobs."""
        retention = self._engine().retention
        lines = await self._of_each_definition(ctx, retention.prune_logs, "line")
        orphans, cursor = 0, _FIRST
        while True:
            ctx.checkpoint()
            gone, after = await run_paced(retention.prune_orphaned_logs(cursor))
            orphans += gone
            if after is None:
                break
            cursor = after
        ctx.progress(1.0, f"pruned {counted(lines + orphans, 'line')}")
        return {"lines": lines, "orphans": orphans}

    async def recount(self, ctx: JobContext) -> dict[str, Any]:
        """Compare the stored counts with a recount, and correct wrong ones."""
        counts = self._engine().counts
        ctx.progress(0.0, "counting")
        wrong = await counts.check()
        for each in wrong[:_MOST_NAMED]:
            place = f"{each.definition} in queue {each.queue} of tenant {each.tenant}"
            text = f"{place}, {each.state}: {each.kept:,} kept, {each.counted:,} counted"
            ctx.log.warning(text)
        ctx.checkpoint()
        await counts.correct(wrong)
        if wrong:
            ctx.warn(f"{counted(len(wrong), 'count')} corrected")
        ctx.progress(1.0, f"corrected {counted(len(wrong), 'count')}")
        return {"corrected": len(wrong)}

    async def forget_workers(self, ctx: JobContext) -> Counts:
        """Remove the rows of workers not seen for a day."""
        gone = await self._engine().workers.forget()
        ctx.progress(1.0, f"forgot {counted(gone, 'worker')}")
        return {"workers": gone}

    async def _of_each_definition(
        self, ctx: JobContext, step: Callable[[Definition], Awaitable[int]], noun: str
    ) -> int:
        """Repeat a step for each definition until nothing is left to do."""
        definitions = await self._engine().definitions.list(system=True)
        total = 0
        for number, definition in enumerate(definitions):
            ctx.progress(number / len(definitions), f"pruned {counted(total, noun)}")
            done = await run_paced_until_done(partial(step, definition), before=ctx.checkpoint)
            if done:
                text = f"pruned {counted(done, noun)} of {definition.key}"
                ctx.log.info(text)
            total += done
        return total


def _declare(
    call: Callable[..., Any], title: str, schedule: Schedule, settings: Settings
) -> Handler:
    handler = declare(
        call,
        f"{SYSTEM_KEYS}{call.__name__}",
        {
            "title": title,
            "queue": SYSTEM_QUEUE,
            "priority": "low",
            "max_attempts": 3,
            "timeout": "6h",
            "max_concurrency": 1,
            "schedule": schedule,
            "overlap": "skip",
            "system": True,
            "idempotent": True,
        },
        settings,
    )
    return replace(handler, is_builtin=True)
