"""The nouns of the app, `wl.jobs`, `wl.definitions` …, each with its verbs of the engine.

A class `…Noun` describes a noun for both the async and the blocking API; `wl.jobs` has two classes,
because the verbs of its handles await or block.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from uuid import UUID

from windlass.app.verbs import AppVerb, AsyncNoun, Check
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.filter import parse
from windlass.core.jobs.models import (
    ALL_TENANTS,
    NOT_LOADED,
    Attempt,
    Job,
    LogLine,
    Scope,
    Transition,
)
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState, View
from windlass.core.monitoring.summary import JobSummary
from windlass.engine.access.audit import Audit
from windlass.engine.access.tenants import Tenants
from windlass.engine.definitions.activity import DefinitionActivityReader
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.engine import Engine
from windlass.engine.jobs.dead import DeadLetters
from windlass.engine.jobs.explain import Explanation
from windlass.engine.jobs.logs import Logs
from windlass.engine.jobs.mutes import Mutes
from windlass.engine.leases.queues import Queues
from windlass.engine.leases.workers import Workers
from windlass.engine.triggers.events import Events
from windlass.engine.triggers.trigger_dry_run import TriggerDryRuns
from windlass.engine.triggers.triggers import Triggers
from windlass.errors import OptionInvalid, TriggerNotFound, WorkerNotFound
from windlass.ids import JobId, parse_job_id, parse_suffix

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass
    from windlass.engine.jobs.jobs import Jobs, RelatedJob

Id = JobId | str
Duration = str | timedelta | float

_STATES = frozenset([*JobState, *View])


def _job_page(job: Job) -> Job:
    return replace(job, payload=NOT_LOADED, result=NOT_LOADED)


class Changes(TypedDict, total=False):
    """Possible changes to a waiting job."""

    priority: int | str
    queue: str
    at: datetime
    delay: Duration
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHandle(Job):
    """A job as last read, with verbs that act on it."""

    _jobs: "AsyncJobs" = field(repr=False, compare=False)

    async def wait(self, timeout: Duration = "60s") -> Any:
        """Wait for the job and return its result. Raises JobFailed if it failed for good,
        JobCanceled if it was canceled, and WaitTimeout if it has not ended in time."""
        return await self._jobs.wait(self.id, timeout)

    async def refresh(self) -> "JobHandle":
        """Read the job again."""
        return await self._jobs.get(self.id)

    async def cancel(self, *, actor: str | None = None, reason: str | None = None) -> "JobHandle":
        """End a waiting job; ask a running one to stop."""
        return await self._jobs.cancel(self.id, actor=actor, reason=reason)

    async def retry(self, *, actor: str | None = None) -> "JobHandle":
        """Queue a dead-lettered or canceled job again, with fresh attempts."""
        return await self._jobs.retry(self.id, actor=actor)

    async def update(self, *, actor: str | None = None, **changes: Unpack[Changes]) -> "JobHandle":
        """Change a waiting job; JobStateConflict if it runs or has ended."""
        return await self._jobs.update(self.id, actor=actor, **changes)

    async def explain(self) -> Explanation:
        """Explain why it is not running."""
        return await self._jobs.explain(self.id)


@dataclass(frozen=True, slots=True)
class JobPage:
    """A page of a list, newest first, and the id to continue after (None at the end). Payload and
    result of its jobs are not loaded; `refresh` reads a whole job."""

    jobs: Sequence[JobHandle]
    next: JobId | None


class AsyncJobs:
    """Find, cancel, retry, change and explain jobs, by whole ids; `find` takes the end of an id."""

    def __init__(self, app: "Windlass", scope: Scope = ALL_TENANTS) -> None:
        self._app = app
        self._scope = scope

    def of(self, tenant: str) -> "AsyncJobs":
        """The same verbs, limited to one tenant."""
        return AsyncJobs(self._app, Scope.of(tenant))

    async def get(self, id: Id) -> JobHandle:
        """Get a job by its whole id; JobNotFound if there is none."""
        return self._handle(await (await self._jobs()).get(whole_id(id), self._scope))

    async def find(self, end: str) -> JobHandle:
        """Find a job by the last six or more characters of its id. JobNotFound if there is none,
        AmbiguousId if several match."""
        return self._handle(await (await self._jobs()).get(end, self._scope))

    async def reveal(self, id: Id) -> JobHandle:
        """Get a job with its original payload: values encrypted at rest are decrypted.
        PayloadKeyMissing if the key is not configured here."""
        return self._handle(await (await self._jobs()).reveal(whole_id(id), self._scope))

    async def list(
        self,
        query: str = "",
        *,
        states: Collection[str] = (),
        definition: str | None = None,
        queue: str | None = None,
        source: str | None = None,
        correlation_id: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        after: JobId | None = None,
        limit: int = 50,
    ) -> JobPage:
        """List jobs, newest first, without payloads and results; without arguments all jobs.

        `query` is a filter such as `state:dead_letter definition:mail.* error:timeout`;
        FilterInvalid if it cannot be parsed. `states` also takes views such as "retrying". `after`
        continues from a page's `next`.
        """
        if unknown := sorted({states} if isinstance(states, str) else set(states) - _STATES):
            raise OptionInvalid(
                "states", unknown[0], allowed=f"some of {', '.join(sorted(_STATES))}"
            )
        chosen = parse(query) & JobQuery.of(
            states=states,
            definition=definition,
            queue=queue,
            source=source,
            correlation_id=correlation_id,
            created_after=created_after,
            created_before=created_before,
        )
        lists = (await self._app.ready()).lists
        page = await lists.page(chosen, scope=self._scope, after=after, limit=limit)
        return JobPage([self._handle(_job_page(job)) for job in page.jobs], page.next)

    async def summary(self) -> JobSummary:
        """Count jobs by state, view, queue and definition."""
        return await (await self._app.ready()).summaries.summary(self._scope)

    async def cancel(
        self, id: Id, *, actor: str | None = None, reason: str | None = None
    ) -> JobHandle:
        """End a waiting job, or ask a running one to stop. Repeating it changes nothing."""
        jobs = await self._jobs()
        return self._handle(
            await jobs.cancel(whole_id(id), scope=self._scope, actor=actor, reason=reason)
        )

    async def retry(self, id: Id, *, actor: str | None = None) -> JobHandle:
        """Queue a dead-lettered or canceled job again, due at once, with fresh attempts."""
        jobs = await self._jobs()
        return self._handle(await jobs.retry(whole_id(id), scope=self._scope, actor=actor))

    async def run_now(self, id: Id, *, actor: str | None = None) -> JobHandle:
        """Make a scheduled, retrying or held job due at once."""
        jobs = await self._jobs()
        return self._handle(await jobs.run_now(whole_id(id), scope=self._scope, actor=actor))

    async def update(
        self, id: Id, *, actor: str | None = None, **changes: Unpack[Changes]
    ) -> JobHandle:
        """Change a waiting job: its priority, queue, due time (`at` or `delay`) or metadata, which
        is replaced as a whole. JobStateConflict if it runs or has ended."""
        jobs, change = await self._jobs(), JobChange.of(**changes)
        return self._handle(await jobs.update(whole_id(id), change, scope=self._scope, actor=actor))

    async def discard(self, id: Id) -> None:
        """Delete an ended job for good."""
        await (await self._jobs()).discard(whole_id(id), scope=self._scope)

    async def attempts(self, id: Id) -> Sequence[Attempt]:
        """List a job's attempts, oldest first."""
        return await (await self._jobs()).attempts(whole_id(id), self._scope)

    async def history(self, id: Id) -> Sequence[Transition]:
        """List a job's transitions, oldest first."""
        return await (await self._jobs()).history(whole_id(id), self._scope)

    async def logs(self, id: Id, *, after: int = 0, limit: int = 1000) -> Sequence[LogLine]:
        """List a job's log lines in order, those after sequence number `after`."""
        return await (await self._jobs()).logs(
            whole_id(id), scope=self._scope, after=after, limit=limit
        )

    async def family(self, id: Id) -> "Sequence[RelatedJob]":
        """List a job's parents and children."""
        return await (await self._jobs()).family(whole_id(id), self._scope)

    async def explain(self, id: Id) -> Explanation:
        """Explain why a job is not running."""
        return await (await self._jobs()).explain(whole_id(id), self._scope)

    async def wait(self, id: Id, timeout: Duration = "60s") -> Any:
        """Wait for a job and return its result, as the type that its handler returns if that is
        declared in this program. Raises JobFailed if it failed for good, JobCanceled if it was
        canceled, and WaitTimeout if it has not ended in time."""
        return await self._app.results.wait(whole_id(id), timeout, self._scope)

    async def _jobs(self) -> "Jobs":
        return (await self._app.ready()).jobs

    def _handle(self, job: Job) -> JobHandle:
        return JobHandle(**fields_of(job), _jobs=self)


def whole_id(id: UUID | str, noun: str = "jobs") -> JobId:
    """Parse an id; OptionInvalid unless it is whole. The end of an id may later match a second job,
    so only `find` takes one."""
    whole = parse_job_id(id) if isinstance(id, str) else id
    if whole is None:
        allowed = f"a whole id; `wl.{noun}.find` takes the end of one"
        raise OptionInvalid(f"{noun.removesuffix('s')} id", id, allowed=allowed)
    return JobId(whole)


async def _whole_job(engine: Engine, id: UUID | str) -> None:
    whole_id(id)


async def _whole_event(engine: Engine, id: UUID | str) -> None:
    whole_id(id, "events")


async def _whole_trigger(engine: Engine, id: str) -> None:
    """Accept a name or a whole id; a name may look like the end of an id."""
    if parse_suffix(id) is None or parse_job_id(id) is not None:
        return
    if all(trigger.name != id for trigger in await engine.triggers.list(system=True)):
        raise TriggerNotFound(id)


async def _whole_worker(engine: Engine, id: str) -> None:
    if all(worker.id != id for worker in await engine.workers.list()):
        raise WorkerNotFound(id)


_JOB: Mapping[str, Check] = {"id": _whole_job}
_EVENT: Mapping[str, Check] = {"id": _whole_event}
_TRIGGER: Mapping[str, Check] = {"id": _whole_trigger}
_TRIAL: Mapping[str, Check] = {"id": _whole_trigger, "event": _whole_event}
_WORKER: Mapping[str, Check] = {"id": _whole_worker}
_LOGS: Mapping[str, Check] = {"job": _whole_job}


class DeadNoun:
    """The dead letter: groups by cause; retry, edit, discard and mute."""

    _noun = "dead"
    groups = AppVerb(DeadLetters.groups)
    list = AppVerb(DeadLetters.list)
    retry = AppVerb(DeadLetters.retry, checks=_JOB)
    retry_group = AppVerb(DeadLetters.retry_group)
    edit_retry = AppVerb(DeadLetters.edit_retry, checks=_JOB)
    discard = AppVerb(DeadLetters.discard, checks=_JOB)
    discard_group = AppVerb(DeadLetters.discard_group)
    mute = AppVerb(Mutes.mute, noun="mutes")
    unmute = AppVerb(Mutes.unmute, noun="mutes")


class DefinitionNoun:
    """Definitions: list, enable, disable, edit and reset."""

    _noun = "definitions"
    sync = AppVerb(Definitions.mark_missing)
    create = AppVerb(Definitions.create)
    get = AppVerb(Definitions.get)
    list = AppVerb(Definitions.list)
    activity = AppVerb(DefinitionActivityReader.activity, noun="activity")
    enable = AppVerb(Definitions.enable)
    disable = AppVerb(Definitions.disable)
    edit = AppVerb(Definitions.edit)
    reset = AppVerb(Definitions.reset)
    reset_all = AppVerb(Definitions.reset_all)
    delete = AppVerb(Definitions.delete)


class AuditNoun:
    """The audit: verify its chains and list their heads."""

    _noun = "audit"
    verify = AppVerb(Audit.verify_all)
    heads = AppVerb(Audit.heads)


class TenantNoun:
    """Tenants: create, change, list, suspend, delete and purge."""

    _noun = "tenants"
    create = AppVerb(Tenants.create)
    change = AppVerb(Tenants.change)
    get = AppVerb(Tenants.get)
    list = AppVerb(Tenants.list)
    suspend = AppVerb(Tenants.suspend)
    resume = AppVerb(Tenants.resume)
    delete = AppVerb(Tenants.delete)
    purge = AppVerb(Tenants.purge)


class QueueNoun:
    """Queues: list, pause, resume and limit."""

    _noun = "queues"
    get = AppVerb(Queues.get)
    list = AppVerb(Queues.list)
    pause = AppVerb(Queues.pause)
    resume = AppVerb(Queues.resume)
    limit = AppVerb(Queues.limit)


class BaseTriggerNoun:
    """Verbs common to schedules and triggers, by name or whole id; `find` also takes the end of an
    id."""

    _noun = "triggers"
    create = AppVerb(Triggers.create)
    get = AppVerb(Triggers.get, checks=_TRIGGER)
    find = AppVerb(Triggers.get)
    update = AppVerb(Triggers.update, checks=_TRIGGER)
    reschedule = AppVerb(Triggers.reschedule, checks=_TRIGGER)
    reset = AppVerb(Triggers.reset, checks=_TRIGGER)
    enable = AppVerb(Triggers.enable, checks=_TRIGGER)
    disable = AppVerb(Triggers.disable, checks=_TRIGGER)
    delete = AppVerb(Triggers.delete, checks=_TRIGGER)
    warnings = AppVerb(Triggers.warnings, checks=_TRIGGER)


class TriggerNoun(BaseTriggerNoun):
    """Triggers, by time and by event: create, list, update, test and delete."""

    list = AppVerb(Triggers.list)
    test = AppVerb(TriggerDryRuns.test, noun="trigger_dry_runs", checks=_TRIAL)


class ScheduleNoun(BaseTriggerNoun):
    """Schedules: triggers by time."""

    list = AppVerb(Triggers.schedules)
    run = AppVerb(Triggers.run, checks=_TRIGGER)
    preview = AppVerb(Triggers.preview)


class EventNoun:
    """Emitted events and their jobs, by whole ids; `find` takes the end of an id."""

    _noun = "events"
    get = AppVerb(Events.get, checks=_EVENT)
    find = AppVerb(Events.get)
    list = AppVerb(Events.list)
    replay = AppVerb(Events.replay, checks=_EVENT)


class LogNoun:
    """Log lines of all jobs."""

    _noun = "logs"
    search = AppVerb(Logs.search, checks=_LOGS)


class WorkerNoun:
    """Workers: list, drain, resume and stop, by whole ids; `find` takes the end of an id."""

    _noun = "workers"
    get = AppVerb(Workers.get, checks=_WORKER)
    find = AppVerb(Workers.get)
    list = AppVerb(Workers.list)
    drain = AppVerb(Workers.drain, checks=_WORKER)
    resume = AppVerb(Workers.resume, checks=_WORKER)
    stop = AppVerb(Workers.stop, checks=_WORKER)


class AsyncDead(AsyncNoun, DeadNoun):
    __doc__ = DeadNoun.__doc__


class AsyncDefinitions(AsyncNoun, DefinitionNoun):
    __doc__ = DefinitionNoun.__doc__


class AsyncAudit(AsyncNoun, AuditNoun):
    __doc__ = AuditNoun.__doc__


class AsyncTenants(AsyncNoun, TenantNoun):
    __doc__ = TenantNoun.__doc__


class AsyncQueues(AsyncNoun, QueueNoun):
    __doc__ = QueueNoun.__doc__


class AsyncTriggers(AsyncNoun, TriggerNoun):
    __doc__ = TriggerNoun.__doc__


class AsyncSchedules(AsyncNoun, ScheduleNoun):
    __doc__ = ScheduleNoun.__doc__


class AsyncEvents(AsyncNoun, EventNoun):
    __doc__ = EventNoun.__doc__


class AsyncLogs(AsyncNoun, LogNoun):
    __doc__ = LogNoun.__doc__


class AsyncWorkers(AsyncNoun, WorkerNoun):
    __doc__ = WorkerNoun.__doc__


def fields_of(job: Job) -> dict[str, Any]:
    """The fields of a job, for a copy of another class."""
    return {each.name: getattr(job, each.name) for each in fields(Job)}
