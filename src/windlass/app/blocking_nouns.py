"""The nouns of an app for blocking programs: each verb of the awaited ones, waited for here."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from windlass.app import nouns
from windlass.app.portal import Runs
from windlass.app.verbs import Blocks
from windlass.core.jobs.models import Job
from windlass.ids import JobId


def _handle(job: nouns.JobHandle, portal: Runs) -> "JobHandle":
    return JobHandle(**nouns.fields_of(job), _awaited=job, _portal=portal)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHandle(Job):
    """A job as it was when it was read, with verbs that go on from it."""

    _awaited: nouns.JobHandle = field(repr=False, compare=False)
    _portal: Runs = field(repr=False, compare=False)

    wait = Blocks(nouns.JobHandle.wait)
    refresh = Blocks(nouns.JobHandle.refresh, _handle)
    cancel = Blocks(nouns.JobHandle.cancel, _handle)
    retry = Blocks(nouns.JobHandle.retry, _handle)
    update = Blocks(nouns.JobHandle.update, _handle)
    explain = Blocks(nouns.JobHandle.explain)


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

    _awaited: nouns.JobsFace
    _portal: Runs

    get = Blocks(nouns.JobsFace.get, _handle)
    find = Blocks(nouns.JobsFace.find, _handle)
    reveal = Blocks(nouns.JobsFace.reveal, _handle)
    list = Blocks(nouns.JobsFace.list, _page)
    summary = Blocks(nouns.JobsFace.summary)
    cancel = Blocks(nouns.JobsFace.cancel, _handle)
    retry = Blocks(nouns.JobsFace.retry, _handle)
    run_now = Blocks(nouns.JobsFace.run_now, _handle)
    update = Blocks(nouns.JobsFace.update, _handle)
    discard = Blocks(nouns.JobsFace.discard)
    attempts = Blocks(nouns.JobsFace.attempts)
    history = Blocks(nouns.JobsFace.history)
    logs = Blocks(nouns.JobsFace.logs)
    family = Blocks(nouns.JobsFace.family)
    explain = Blocks(nouns.JobsFace.explain)
    wait = Blocks(nouns.JobsFace.wait)

    def of(self, tenant: str) -> "Jobs":
        """The same, confined to one tenant."""
        return Jobs(self._awaited.of(tenant), self._portal)


@dataclass(frozen=True, slots=True)
class Dead:
    """What failed for good: groups by cause; retry, edit, discard and mute."""

    _awaited: nouns.DeadFace
    _portal: Runs

    groups = Blocks(nouns.DeadFace.groups)
    list = Blocks(nouns.DeadFace.list)
    retry = Blocks(nouns.DeadFace.retry)
    retry_group = Blocks(nouns.DeadFace.retry_group)
    edit_retry = Blocks(nouns.DeadFace.edit_retry)
    discard = Blocks(nouns.DeadFace.discard)
    discard_group = Blocks(nouns.DeadFace.discard_group)
    mute = Blocks(nouns.DeadFace.mute)
    unmute = Blocks(nouns.DeadFace.unmute)


@dataclass(frozen=True, slots=True)
class Definitions:
    """What may run: list, enable, disable, edit and reset definitions."""

    _awaited: nouns.DefinitionsFace
    _portal: Runs

    sync = Blocks(nouns.DefinitionsFace.sync)
    create = Blocks(nouns.DefinitionsFace.create)
    get = Blocks(nouns.DefinitionsFace.get)
    list = Blocks(nouns.DefinitionsFace.list)
    activity = Blocks(nouns.DefinitionsFace.activity)
    enable = Blocks(nouns.DefinitionsFace.enable)
    disable = Blocks(nouns.DefinitionsFace.disable)
    edit = Blocks(nouns.DefinitionsFace.edit)
    reset = Blocks(nouns.DefinitionsFace.reset)
    reset_all = Blocks(nouns.DefinitionsFace.reset_all)
    delete = Blocks(nouns.DefinitionsFace.delete)


@dataclass(frozen=True, slots=True)
class Audit:
    """The record of who changed what: check it, and tell where its chains end."""

    _awaited: nouns.AuditFace
    _portal: Runs

    verify = Blocks(nouns.AuditFace.verify)
    heads = Blocks(nouns.AuditFace.heads)


@dataclass(frozen=True, slots=True)
class Tenants:
    """Who owns jobs: create, change, list, suspend, delete and purge tenants."""

    _awaited: nouns.TenantsFace
    _portal: Runs

    create = Blocks(nouns.TenantsFace.create)
    change = Blocks(nouns.TenantsFace.change)
    get = Blocks(nouns.TenantsFace.get)
    list = Blocks(nouns.TenantsFace.list)
    suspend = Blocks(nouns.TenantsFace.suspend)
    resume = Blocks(nouns.TenantsFace.resume)
    delete = Blocks(nouns.TenantsFace.delete)
    purge = Blocks(nouns.TenantsFace.purge)


@dataclass(frozen=True, slots=True)
class Queues:
    """Named lines of jobs: list, pause, resume and limit queues."""

    _awaited: nouns.QueuesFace
    _portal: Runs

    get = Blocks(nouns.QueuesFace.get)
    list = Blocks(nouns.QueuesFace.list)
    pause = Blocks(nouns.QueuesFace.pause)
    resume = Blocks(nouns.QueuesFace.resume)
    limit = Blocks(nouns.QueuesFace.limit)


@dataclass(frozen=True, slots=True)
class Rules:
    """What schedules and triggers have in common."""

    _awaited: nouns.RulesFace
    _portal: Runs

    create = Blocks(nouns.RulesFace.create)
    get = Blocks(nouns.RulesFace.get)
    find = Blocks(nouns.RulesFace.find)
    update = Blocks(nouns.RulesFace.update)
    reschedule = Blocks(nouns.RulesFace.reschedule)
    reset = Blocks(nouns.RulesFace.reset)
    enable = Blocks(nouns.RulesFace.enable)
    disable = Blocks(nouns.RulesFace.disable)
    delete = Blocks(nouns.RulesFace.delete)
    warnings = Blocks(nouns.RulesFace.warnings)


class Triggers(Rules):
    """Rules that make jobs, by time and by event: create, list, update, test and delete."""

    list = Blocks(nouns.TriggersFace.list)
    test = Blocks(nouns.TriggersFace.test)


class Schedules(Rules):
    """The rules that make jobs by time."""

    list = Blocks(nouns.SchedulesFace.list)
    run = Blocks(nouns.SchedulesFace.run)
    preview = Blocks(nouns.SchedulesFace.preview)


@dataclass(frozen=True, slots=True)
class Events:
    """What was emitted, and how many jobs came of it."""

    _awaited: nouns.EventsFace
    _portal: Runs

    get = Blocks(nouns.EventsFace.get)
    find = Blocks(nouns.EventsFace.find)
    list = Blocks(nouns.EventsFace.list)
    replay = Blocks(nouns.EventsFace.replay)


@dataclass(frozen=True, slots=True)
class Logs:
    """Log lines of all jobs."""

    _awaited: nouns.LogsFace
    _portal: Runs

    search = Blocks(nouns.LogsFace.search)


@dataclass(frozen=True, slots=True)
class Workers:
    """Who runs jobs: list, drain, resume and stop workers. Ids are whole; `find` takes the end of
    one."""

    _awaited: nouns.WorkersFace
    _portal: Runs

    get = Blocks(nouns.WorkersFace.get)
    find = Blocks(nouns.WorkersFace.find)
    list = Blocks(nouns.WorkersFace.list)
    drain = Blocks(nouns.WorkersFace.drain)
    resume = Blocks(nouns.WorkersFace.resume)
    stop = Blocks(nouns.WorkersFace.stop)
