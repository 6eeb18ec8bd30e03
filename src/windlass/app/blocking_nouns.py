"""The nouns of the app for blocking programs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from windlass.app import nouns
from windlass.app.portal import Runner
from windlass.app.verbs import BlockingNoun, BlockingVerb
from windlass.core.jobs.models import Job
from windlass.ids import JobId


def _handle(job: nouns.JobHandle, portal: Runner) -> "JobHandle":
    return JobHandle(**nouns.fields_of(job), _awaited=job, _portal=portal)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHandle(Job):
    """A job as last read, with verbs that act on it."""

    _awaited: nouns.JobHandle = field(repr=False, compare=False)
    _portal: Runner = field(repr=False, compare=False)

    wait = BlockingVerb(nouns.JobHandle.wait)
    refresh = BlockingVerb(nouns.JobHandle.refresh, _handle)
    cancel = BlockingVerb(nouns.JobHandle.cancel, _handle)
    retry = BlockingVerb(nouns.JobHandle.retry, _handle)
    update = BlockingVerb(nouns.JobHandle.update, _handle)
    explain = BlockingVerb(nouns.JobHandle.explain)


@dataclass(frozen=True, slots=True)
class JobPage:
    """A page of a list, newest first, and the id to continue after (None at the end). Payload and
    result of its jobs are not loaded; `refresh` reads a whole job."""

    jobs: Sequence[JobHandle]
    next: JobId | None


def _page(page: nouns.JobPage, portal: Runner) -> JobPage:
    return JobPage([_handle(job, portal) for job in page.jobs], page.next)


@dataclass(frozen=True, slots=True)
class Jobs:
    """Find, cancel, retry, change and explain jobs, by whole ids; `find` takes the end of an id."""

    _awaited: nouns.AsyncJobs
    _portal: Runner

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
        """The same verbs, limited to one tenant."""
        return Jobs(self._awaited.of(tenant), self._portal)


class Dead(BlockingNoun, nouns.DeadNoun):
    __doc__ = nouns.DeadNoun.__doc__


class Definitions(BlockingNoun, nouns.DefinitionNoun):
    __doc__ = nouns.DefinitionNoun.__doc__


class Audit(BlockingNoun, nouns.AuditNoun):
    __doc__ = nouns.AuditNoun.__doc__


class Tenants(BlockingNoun, nouns.TenantNoun):
    __doc__ = nouns.TenantNoun.__doc__


class Queues(BlockingNoun, nouns.QueueNoun):
    __doc__ = nouns.QueueNoun.__doc__


class Triggers(BlockingNoun, nouns.TriggerNoun):
    __doc__ = nouns.TriggerNoun.__doc__


class Schedules(BlockingNoun, nouns.ScheduleNoun):
    __doc__ = nouns.ScheduleNoun.__doc__


class Events(BlockingNoun, nouns.EventNoun):
    __doc__ = nouns.EventNoun.__doc__


class Logs(BlockingNoun, nouns.LogNoun):
    __doc__ = nouns.LogNoun.__doc__


class Workers(BlockingNoun, nouns.WorkerNoun):
    __doc__ = nouns.WorkerNoun.__doc__
