"""The nouns of an app for blocking programs: each verb of the awaited ones, waited for here."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from windlass.app import nouns
from windlass.app.portal import Runs
from windlass.app.verbs import BlockingVerb
from windlass.core.jobs.models import Job
from windlass.ids import JobId


def _handle(job: nouns.JobHandle, portal: Runs) -> "JobHandle":
    return JobHandle(**nouns.fields_of(job), _awaited=job, _portal=portal)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHandle(Job):
    """A job as it was when it was read, with verbs that go on from it."""

    _awaited: nouns.JobHandle = field(repr=False, compare=False)
    _portal: Runs = field(repr=False, compare=False)

    wait = BlockingVerb(nouns.JobHandle.wait)
    refresh = BlockingVerb(nouns.JobHandle.refresh, _handle)
    cancel = BlockingVerb(nouns.JobHandle.cancel, _handle)
    retry = BlockingVerb(nouns.JobHandle.retry, _handle)
    update = BlockingVerb(nouns.JobHandle.update, _handle)
    explain = BlockingVerb(nouns.JobHandle.explain)


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some of a list, newest first, and the id to go on after (None at the end). Payload and result
    of its jobs are not loaded; `refresh` reads a whole job."""

    jobs: Sequence[JobHandle]
    next: JobId | None


def _page(page: nouns.JobPage, portal: Runs) -> JobPage:
    return JobPage([_handle(job, portal) for job in page.jobs], page.next)


@dataclass(frozen=True, slots=True)
class Jobs:
    """Find, cancel, retry, change and explain jobs. Ids are whole; `find` takes the end of one."""

    _awaited: nouns.AsyncJobs
    _portal: Runs

    get = BlockingVerb(nouns.AsyncJobs.get, _handle)
    find = BlockingVerb(nouns.AsyncJobs.find, _handle)
    reveal = BlockingVerb(nouns.AsyncJobs.reveal, _handle)
    list = BlockingVerb(nouns.AsyncJobs.list, _page)
    summary = BlockingVerb(nouns.AsyncJobs.summary)
    cancel = BlockingVerb(nouns.AsyncJobs.cancel, _handle)
    retry = BlockingVerb(nouns.AsyncJobs.retry, _handle)
    run_now = BlockingVerb(nouns.AsyncJobs.run_now, _handle)
    update = BlockingVerb(nouns.AsyncJobs.update, _handle)
    discard = BlockingVerb(nouns.AsyncJobs.discard)
    attempts = BlockingVerb(nouns.AsyncJobs.attempts)
    history = BlockingVerb(nouns.AsyncJobs.history)
    logs = BlockingVerb(nouns.AsyncJobs.logs)
    family = BlockingVerb(nouns.AsyncJobs.family)
    explain = BlockingVerb(nouns.AsyncJobs.explain)
    wait = BlockingVerb(nouns.AsyncJobs.wait)

    def of(self, tenant: str) -> "Jobs":
        """The same, confined to one tenant."""
        return Jobs(self._awaited.of(tenant), self._portal)


@dataclass(frozen=True, slots=True)
class Dead:
    """What failed for good: groups by cause; retry, edit, discard and mute."""

    _awaited: nouns.AsyncDead
    _portal: Runs

    groups = BlockingVerb(nouns.AsyncDead.groups)
    list = BlockingVerb(nouns.AsyncDead.list)
    retry = BlockingVerb(nouns.AsyncDead.retry)
    retry_group = BlockingVerb(nouns.AsyncDead.retry_group)
    edit_retry = BlockingVerb(nouns.AsyncDead.edit_retry)
    discard = BlockingVerb(nouns.AsyncDead.discard)
    discard_group = BlockingVerb(nouns.AsyncDead.discard_group)
    mute = BlockingVerb(nouns.AsyncDead.mute)
    unmute = BlockingVerb(nouns.AsyncDead.unmute)


@dataclass(frozen=True, slots=True)
class Definitions:
    """What may run: list, enable, disable, edit and reset definitions."""

    _awaited: nouns.AsyncDefinitions
    _portal: Runs

    sync = BlockingVerb(nouns.AsyncDefinitions.sync)
    create = BlockingVerb(nouns.AsyncDefinitions.create)
    get = BlockingVerb(nouns.AsyncDefinitions.get)
    list = BlockingVerb(nouns.AsyncDefinitions.list)
    activity = BlockingVerb(nouns.AsyncDefinitions.activity)
    enable = BlockingVerb(nouns.AsyncDefinitions.enable)
    disable = BlockingVerb(nouns.AsyncDefinitions.disable)
    edit = BlockingVerb(nouns.AsyncDefinitions.edit)
    reset = BlockingVerb(nouns.AsyncDefinitions.reset)
    reset_all = BlockingVerb(nouns.AsyncDefinitions.reset_all)
    delete = BlockingVerb(nouns.AsyncDefinitions.delete)


@dataclass(frozen=True, slots=True)
class Audit:
    """The record of who changed what: check it, and tell where its chains end."""

    _awaited: nouns.AsyncAudit
    _portal: Runs

    verify = BlockingVerb(nouns.AsyncAudit.verify)
    heads = BlockingVerb(nouns.AsyncAudit.heads)


@dataclass(frozen=True, slots=True)
class Tenants:
    """Who owns jobs: create, change, list, suspend, delete and purge tenants."""

    _awaited: nouns.AsyncTenants
    _portal: Runs

    create = BlockingVerb(nouns.AsyncTenants.create)
    change = BlockingVerb(nouns.AsyncTenants.change)
    get = BlockingVerb(nouns.AsyncTenants.get)
    list = BlockingVerb(nouns.AsyncTenants.list)
    suspend = BlockingVerb(nouns.AsyncTenants.suspend)
    resume = BlockingVerb(nouns.AsyncTenants.resume)
    delete = BlockingVerb(nouns.AsyncTenants.delete)
    purge = BlockingVerb(nouns.AsyncTenants.purge)


@dataclass(frozen=True, slots=True)
class Queues:
    """Named lines of jobs: list, pause, resume and limit queues."""

    _awaited: nouns.AsyncQueues
    _portal: Runs

    get = BlockingVerb(nouns.AsyncQueues.get)
    list = BlockingVerb(nouns.AsyncQueues.list)
    pause = BlockingVerb(nouns.AsyncQueues.pause)
    resume = BlockingVerb(nouns.AsyncQueues.resume)
    limit = BlockingVerb(nouns.AsyncQueues.limit)


@dataclass(frozen=True, slots=True)
class Rules:
    """What schedules and triggers have in common."""

    _awaited: nouns.AsyncBaseTriggers
    _portal: Runs

    create = BlockingVerb(nouns.AsyncBaseTriggers.create)
    get = BlockingVerb(nouns.AsyncBaseTriggers.get)
    find = BlockingVerb(nouns.AsyncBaseTriggers.find)
    update = BlockingVerb(nouns.AsyncBaseTriggers.update)
    reschedule = BlockingVerb(nouns.AsyncBaseTriggers.reschedule)
    reset = BlockingVerb(nouns.AsyncBaseTriggers.reset)
    enable = BlockingVerb(nouns.AsyncBaseTriggers.enable)
    disable = BlockingVerb(nouns.AsyncBaseTriggers.disable)
    delete = BlockingVerb(nouns.AsyncBaseTriggers.delete)
    warnings = BlockingVerb(nouns.AsyncBaseTriggers.warnings)


class Triggers(Rules):
    """Rules that make jobs, by time and by event: create, list, update, test and delete."""

    list = BlockingVerb(nouns.AsyncTriggers.list)
    test = BlockingVerb(nouns.AsyncTriggers.test)


class Schedules(Rules):
    """The rules that make jobs by time."""

    list = BlockingVerb(nouns.AsyncSchedules.list)
    run = BlockingVerb(nouns.AsyncSchedules.run)
    preview = BlockingVerb(nouns.AsyncSchedules.preview)


@dataclass(frozen=True, slots=True)
class Events:
    """What was emitted, and how many jobs came of it."""

    _awaited: nouns.AsyncEvents
    _portal: Runs

    get = BlockingVerb(nouns.AsyncEvents.get)
    find = BlockingVerb(nouns.AsyncEvents.find)
    list = BlockingVerb(nouns.AsyncEvents.list)
    replay = BlockingVerb(nouns.AsyncEvents.replay)


@dataclass(frozen=True, slots=True)
class Logs:
    """Log lines of all jobs."""

    _awaited: nouns.AsyncLogs
    _portal: Runs

    search = BlockingVerb(nouns.AsyncLogs.search)


@dataclass(frozen=True, slots=True)
class Workers:
    """Who runs jobs: list, drain, resume and stop workers. Ids are whole; `find` takes the end of
    one."""

    _awaited: nouns.AsyncWorkers
    _portal: Runs

    get = BlockingVerb(nouns.AsyncWorkers.get)
    find = BlockingVerb(nouns.AsyncWorkers.find)
    list = BlockingVerb(nouns.AsyncWorkers.list)
    drain = BlockingVerb(nouns.AsyncWorkers.drain)
    resume = BlockingVerb(nouns.AsyncWorkers.resume)
    stop = BlockingVerb(nouns.AsyncWorkers.stop)
