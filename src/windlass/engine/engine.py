"""The engine: one storage and the verbs on it, made ready once."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from windlass import clock
from windlass.core.access.roles import ROLES, RoleTable
from windlass.engine.background_tasks import BackgroundTasks
from windlass.engine.nudges import Nudges
from windlass.errors import WindlassError
from windlass.ids import WorkerId
from windlass.settings import Settings
from windlass.storage.database import Watch
from windlass.storage.storage import Storage, open_storage
from windlass.tasks import all_tenants
from windlass.telemetry import Telemetry

if TYPE_CHECKING:
    from windlass.core.leases.lease import Lease, LeaseRef
    from windlass.engine.access.audit import Audit
    from windlass.engine.access.authorization import Access
    from windlass.engine.access.idempotency import IdempotencyStore
    from windlass.engine.access.invitations import Invitations
    from windlass.engine.access.members import Members
    from windlass.engine.access.passwords import Passwords
    from windlass.engine.access.sessions import Sessions
    from windlass.engine.access.tenants import Tenants
    from windlass.engine.access.tokens import Tokens
    from windlass.engine.access.users import Users
    from windlass.engine.definitions.activity import DefinitionActivityReader
    from windlass.engine.definitions.definitions import Definitions
    from windlass.engine.jobs.dead import DeadLetters
    from windlass.engine.jobs.enqueue import EnqueueHook
    from windlass.engine.jobs.enqueue_rights import EnqueueRights
    from windlass.engine.jobs.jobs import Jobs
    from windlass.engine.jobs.lists import JobLists
    from windlass.engine.jobs.logs import Logs
    from windlass.engine.jobs.mutes import Mutes
    from windlass.engine.jobs.open_job_caps import OpenJobCaps
    from windlass.engine.jobs.operation_batches import OperationBatches
    from windlass.engine.jobs.operations import Operations
    from windlass.engine.jobs.payload_encryption import ReencryptionResult, Sealer
    from windlass.engine.jobs.requests import EnqueueRequests
    from windlass.engine.leases.epochs import Epochs
    from windlass.engine.leases.leases import Leases
    from windlass.engine.leases.maintenance import Maintenance
    from windlass.engine.leases.queues import Queues
    from windlass.engine.leases.reaper import Reaper
    from windlass.engine.leases.remote_workers import RemoteWorkers
    from windlass.engine.leases.workers import Workers
    from windlass.engine.leases.wrong_clock import ClockRepair
    from windlass.engine.migrations import Schema
    from windlass.engine.monitoring.alerts import Alerts
    from windlass.engine.monitoring.counts import Counts
    from windlass.engine.monitoring.doctor import Doctor
    from windlass.engine.monitoring.filter_suggestions import FilterSuggestions
    from windlass.engine.monitoring.integrity import Integrity
    from windlass.engine.monitoring.latency import Latency
    from windlass.engine.monitoring.metrics import Metrics
    from windlass.engine.monitoring.retention import Retention
    from windlass.engine.monitoring.rollups import Rollups
    from windlass.engine.monitoring.stream_reads import StreamReads
    from windlass.engine.monitoring.summaries import Summaries
    from windlass.engine.monitoring.tenant_stats import TenantStatsReader
    from windlass.engine.monitoring.usage import Usage
    from windlass.engine.triggers.code_triggers import CodeTriggers
    from windlass.engine.triggers.events import Events
    from windlass.engine.triggers.firing import TriggerFiring
    from windlass.engine.triggers.job_factory import JobFactory
    from windlass.engine.triggers.trigger_dry_run import TriggerDryRuns
    from windlass.engine.triggers.triggers import Triggers
    from windlass.storage.callers import CallerSession


class Engine:
    """The verbs of the product by noun: `engine.jobs.cancel(...)`, `engine.tenants.list()`.

    Each noun is imported and built when it is first used, so that one command or request pays only
    for its own. One that another needs only to change something is handed over as a function.
    """

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        telemetry: Telemetry,
        *,
        roles: RoleTable = ROLES,
        passwords: "Passwords | None" = None,
    ) -> None:
        self.storage = storage
        self.settings = settings
        self.telemetry = telemetry
        self.nudges = Nudges(storage.database)
        #: Tasks that read for others through this engine, such as the live feed.
        self.background = BackgroundTasks()
        #: Context managers of the program around each enqueue.
        self.enqueue_hooks: Sequence[EnqueueHook] = ()
        self._roles = roles
        self._passwords = passwords
        self._checked = False
        self._checking = asyncio.Lock()

    @classmethod
    def open(
        cls, url: str, settings: Settings, telemetry: Telemetry, *, roles: RoleTable = ROLES
    ) -> "Engine":
        """The engine of a database, which nothing connects to before the first verb."""
        storage = open_storage(
            url,
            schema=settings.database.schema,
            listen_url=settings.database.listen_url,
            row_security=settings.database.row_security,
            lease_time=timedelta(seconds=settings.worker.lease_seconds),
        )
        return cls(storage, settings, telemetry, roles=roles)

    @cached_property
    def sealer(self) -> "Sealer":
        """Encrypts and decrypts payloads with the keys of the settings."""
        from windlass.engine.jobs.payload_encryption import create_sealer

        return create_sealer(self.settings)

    @cached_property
    def schema(self) -> "Schema":
        """Migrations: status, migrate, downgrade."""
        from windlass.engine.migrations import Schema

        return Schema(self.storage)

    @cached_property
    def definitions(self) -> "Definitions":
        """Kinds of work that may run."""
        from windlass.engine.definitions.definitions import Definitions

        return Definitions(self.storage, self.nudges, self.settings)

    @cached_property
    def activity(self) -> "DefinitionActivityReader":
        """Counts and times of each definition."""
        from windlass.engine.definitions.activity import DefinitionActivityReader

        return DefinitionActivityReader(self.storage, self.definitions, self.latency)

    @cached_property
    def jobs(self) -> "Jobs":
        """Enqueue, read, change, cancel, retry and explain jobs."""
        from windlass.engine.jobs.jobs import Jobs

        return Jobs(
            self.storage,
            self.definitions,
            self.nudges,
            self.enqueue_rights,
            self.sealer,
            self.open_job_caps,
            self.enqueue_hooks,
        )

    @cached_property
    def lists(self) -> "JobLists":
        """Lists of jobs, by filter."""
        from windlass.engine.jobs.lists import JobLists
        from windlass.engine.redaction import create_redactor

        return JobLists(self.storage, lambda: self.definitions, create_redactor(self.settings))

    @cached_property
    def logs(self) -> "Logs":
        """Log lines of jobs, by their words."""
        from windlass.engine.jobs.logs import Logs

        return Logs(self.storage, self.jobs)

    @cached_property
    def dead(self) -> "DeadLetters":
        """Jobs that failed for good, by cause."""
        from windlass.engine.jobs.dead import DeadLetters

        return DeadLetters(
            self.storage,
            lambda: self.jobs,
            lambda: self.definitions,
            self.nudges,
            self.settings,
            self.enqueue_rights,
            lambda: self.sealer,
        )

    @cached_property
    def mutes(self) -> "Mutes":
        """Causes of failure that alerts leave out."""
        from windlass.engine.jobs.mutes import Mutes

        return Mutes(self.storage)

    @cached_property
    def operations(self) -> "Operations":
        """Bulk operations on jobs."""
        from windlass.engine.jobs.operations import Operations

        return Operations(self.storage, self.access, self.audit, self.lists, self.enqueue_rights)

    @cached_property
    def operation_batches(self) -> "OperationBatches":
        """Work on bulk operations."""
        from windlass.engine.jobs.operation_batches import OperationBatches

        return OperationBatches(self.storage, self.audit, self.nudges, self.telemetry)

    @cached_property
    def enqueue_requests(self) -> "EnqueueRequests":
        """Enqueue for callers of the API."""
        from windlass.engine.jobs.requests import EnqueueRequests

        return EnqueueRequests(self.jobs, self.access, self.audit, self.enqueue_rights)

    @cached_property
    def enqueue_rights(self) -> "EnqueueRights":
        """The check before work is made or changed."""
        from windlass.engine.jobs.enqueue_rights import EnqueueRights

        return EnqueueRights(lambda: self.access, lambda: self.definitions)

    @cached_property
    def open_job_caps(self) -> "OpenJobCaps":
        """Caps on the open jobs of a tenant."""
        from windlass.engine.jobs.open_job_caps import OpenJobCaps

        return OpenJobCaps(self.storage)

    @cached_property
    def queues(self) -> "Queues":
        """Named lines of jobs."""
        from windlass.engine.leases.queues import Queues

        return Queues(self.storage, self.nudges)

    @cached_property
    def workers(self) -> "Workers":
        """Workers, their heartbeat and orders."""
        from windlass.engine.leases.workers import Workers

        return Workers(self.storage, self.nudges, self.epochs)

    @cached_property
    def maintenance(self) -> "Maintenance":
        """Small chores of upkeep."""
        from windlass.engine.leases.maintenance import Maintenance

        return Maintenance(self.storage, self.events)

    @cached_property
    def clock_repair(self) -> "ClockRepair":
        """Corrects what a clock that was ahead has written."""
        from windlass.engine.leases.wrong_clock import ClockRepair

        return ClockRepair(self.storage, self.telemetry)

    @cached_property
    def epochs(self) -> "Epochs":
        """Restored backups, told by the epoch of a database."""
        from windlass.engine.leases.epochs import Epochs

        return Epochs(self.storage, self.telemetry)

    @cached_property
    def remote(self) -> "RemoteWorkers":
        """Server side of HTTP workers."""
        from windlass.engine.leases.remote_latency import RemoteLatencyRecorder
        from windlass.engine.leases.remote_workers import RemoteWorkers

        return RemoteWorkers(
            lambda worker: self.leases(worker=worker),
            self.storage,
            self.definitions,
            self.workers,
            self.settings,
            self.telemetry,
            RemoteLatencyRecorder(self.latency, self.telemetry),
            self.sealer,
        )

    @cached_property
    def triggers(self) -> "Triggers":
        """Rules that make jobs by time or event."""
        from windlass.engine.triggers.triggers import Triggers

        return Triggers(
            self.storage,
            lambda: self.job_factory,
            lambda: self.jobs,
            lambda: self.tenants,
            self.nudges,
            self.telemetry,
            self.enqueue_rights,
        )

    @cached_property
    def firing(self) -> "TriggerFiring":
        """Fires triggers that are due."""
        from windlass.engine.triggers.firing import TriggerFiring

        return TriggerFiring(
            self.storage, self.definitions, self.job_factory, self.nudges, self.telemetry
        )

    @cached_property
    def code_triggers(self) -> "CodeTriggers":
        """Triggers declared in code."""
        from windlass.engine.triggers.code_triggers import CodeTriggers

        return CodeTriggers(self.storage, self.tenants)

    @cached_property
    def events(self) -> "Events":
        """Events and the jobs they made."""
        from windlass.engine.triggers.events import Events

        return Events(self.storage, lambda: self.job_factory, self.nudges, self.telemetry)

    @cached_property
    def job_factory(self) -> "JobFactory":
        """Makes the jobs of triggers."""
        from windlass.engine.triggers.job_factory import JobFactory

        return JobFactory(self.definitions, self.settings, self.enqueue_rights, self.sealer)

    @cached_property
    def trigger_dry_runs(self) -> "TriggerDryRuns":
        """Tests of triggers, which store nothing."""
        from windlass.engine.triggers.trigger_dry_run import TriggerDryRuns

        return TriggerDryRuns(self.triggers, self.events, self.job_factory)

    @cached_property
    def access(self) -> "Access":
        """Principals and what they may do."""
        from windlass.engine.access.authorization import Access

        return Access(self.storage, self.audit, self._roles)

    @cached_property
    def audit(self) -> "Audit":
        """The record of who changed what."""
        from windlass.engine.access.audit import Audit
        from windlass.engine.access.audit_verify import signing_keys
        from windlass.engine.redaction import create_redactor

        return Audit(
            self.storage,
            create_redactor(self.settings),
            self._roles,
            signing_keys(self.settings.audit),
        )

    @cached_property
    def tenants(self) -> "Tenants":
        """Owners of jobs."""
        from windlass.engine.access.tenants import Tenants

        return Tenants(self.storage, self.nudges, self.open_job_caps, self.audit)

    @cached_property
    def users(self) -> "Users":
        """People who sign in."""
        from windlass.engine.access.users import Users

        return Users(self.storage, self.access, self.audit, self.passwords)

    @cached_property
    def members(self) -> "Members":
        """Roles of users in tenants."""
        from windlass.engine.access.members import Members

        return Members(self.storage, self.access, self.audit)

    @cached_property
    def invitations(self) -> "Invitations":
        """Invitations to set a password."""
        from windlass.engine.access.invitations import Invitations

        return Invitations(self.storage, self.audit, self.passwords, self.sessions)

    @cached_property
    def tokens(self) -> "Tokens":
        """API tokens."""
        from windlass.engine.access.tokens import Tokens

        return Tokens(self.storage, self.access, self.audit)

    @cached_property
    def sessions(self) -> "Sessions":
        """Signed-in sessions."""
        from windlass.engine.access.login_throttle import Throttle
        from windlass.engine.access.sessions import Sessions

        return Sessions(
            self.storage,
            self.access,
            self.audit,
            self.passwords,
            Throttle(self.storage, self.telemetry),
        )

    @cached_property
    def passwords(self) -> "Passwords":
        """Password hashing."""
        from windlass.engine.access.passwords import Passwords

        return self._passwords or Passwords()

    @cached_property
    def answers(self) -> "IdempotencyStore":
        """Stored responses of requests with an idempotency key."""
        from windlass.engine.access.idempotency import IdempotencyStore

        return IdempotencyStore(self.storage)

    @cached_property
    def counts(self) -> "Counts":
        """Counts of jobs."""
        from windlass.engine.monitoring.counts import Counts

        return Counts(self.storage)

    @cached_property
    def summaries(self) -> "Summaries":
        """Summaries and charts."""
        from windlass.engine.monitoring.summaries import Summaries

        return Summaries(self.storage)

    @cached_property
    def filter_suggestions(self) -> "FilterSuggestions":
        """Suggestions for a filter that is being typed."""
        from windlass.engine.monitoring.filter_suggestions import FilterSuggestions

        return FilterSuggestions(self.storage, self.definitions, self.summaries)

    @cached_property
    def tenant_stats(self) -> "TenantStatsReader":
        """Statistics by tenant."""
        from windlass.engine.monitoring.tenant_stats import TenantStatsReader

        return TenantStatsReader(self.storage)

    @cached_property
    def usage(self) -> "Usage":
        """Use of queues and workers."""
        from windlass.engine.monitoring.usage import Usage

        return Usage(self.storage, self.queues)

    @cached_property
    def rollups(self) -> "Rollups":
        """Longer slots made of the minutes."""
        from windlass.engine.monitoring.rollups import Rollups

        return Rollups(self.storage)

    @cached_property
    def latency(self) -> "Latency":
        """Waiting and running times."""
        from windlass.engine.monitoring.latency import Latency

        return Latency(self.storage)

    @cached_property
    def metrics(self) -> "Metrics":
        """Metrics for Prometheus."""
        from windlass.engine.monitoring.metrics import Metrics

        return Metrics(self.storage)

    @cached_property
    def integrity(self) -> "Integrity":
        """Checks of what the database holds."""
        from windlass.engine.monitoring.integrity import Integrity

        return Integrity(self.storage)

    @cached_property
    def doctor(self) -> "Doctor":
        """Checks of the installation."""
        from windlass.engine.monitoring.doctor import Doctor

        return Doctor(self.storage, self.settings, self.epochs)

    @cached_property
    def stream(self) -> "StreamReads":
        """Bounded reads for live updates."""
        from windlass.engine.monitoring.stream_reads import StreamReads

        return StreamReads(self.storage)

    @cached_property
    def retention(self) -> "Retention":
        """Deletes what is past retention."""
        from windlass.engine.monitoring.retention import Retention

        return Retention(self.storage, self.settings)

    @cached_property
    def alerts(self) -> "Alerts":
        """Alerts about dead letters."""
        from windlass.engine.monitoring.alerts import Alerts

        return Alerts(self.storage, self.settings, self.telemetry)

    def leases(
        self,
        who: "Callable[[LeaseRef], Lease | None]" = lambda held: None,
        *,
        worker: WorkerId | None = None,
    ) -> "Leases":
        """Claim, renew, finish and reap for one worker; `who` returns the leases that it holds."""
        from windlass.engine.leases.leases import NO_WORKER, Leases

        return Leases(
            self.storage,
            self.nudges,
            self.events,
            self.telemetry,
            who,
            self.sealer,
            NO_WORKER if worker is None else worker,
        )

    def reaper(self, *, lease_time: timedelta) -> "Reaper":
        """Takes back expired leases; one for each loop, which remembers what it saw."""
        from windlass.engine.leases.reaper import Reaper

        return Reaper(self.leases(), self.storage, lease_time=lease_time)

    def reopen(self, *, lease_time: timedelta) -> "Engine":
        """The same engine over connections of its own, for a thread with its own event loop."""
        storage = self.storage.reopen(lease_time=lease_time)
        return Engine(storage, self.settings, self.telemetry, passwords=self._passwords)

    def join(self, tx: object) -> "CallerSession | None":
        """A session in a caller's own transaction; None where none was given."""
        if tx is None:
            return None
        from windlass.storage.callers import caller_session

        return caller_session(tx, self.storage.database)

    async def ready(self) -> None:
        """Check the schema once, and store definitions that were declared since.

        A SQLite file is migrated here; a server's database only by `windlass db migrate`.
        """
        if self._settled(clock.monotonic()):
            return
        with all_tenants():  # what is read here serves all tenants
            await self._check_once()
            await self.definitions.sync()
            if self._built("code_triggers"):
                await self.code_triggers.sync()
            await self.definitions.refresh()
            await self.open_job_caps.refresh()

    async def ready_to_read(self, *, creates: bool = True) -> None:
        """Make ready for verbs that change nothing. Unless it `creates` a file that is not there,
        that raises DatabaseNotFound."""
        if not creates:
            self.storage.database.check_exists()
        if self._built("code_triggers"):  # something was declared, and may be asked for
            await self.ready()
        else:
            await self._check_once()

    def _settled(self, now: float) -> bool:
        return (
            self._checked
            and self.definitions.settled(now)
            and not (self._built("code_triggers") and not self.code_triggers.settled)
            and now < self.open_job_caps.fresh_until
        )

    async def ready_during_transaction(self) -> bool:
        """The same while a caller's transaction is open. False if something must be written that
        we cannot write: the transaction may have locked all of a SQLite file, and waits for us."""
        if self.storage.database.kind != "sqlite":
            await self.ready()
            return True
        migrated = self._checked or not (await self.schema.status()).pending
        return migrated and await self.definitions.is_synced()

    async def ready_in_transaction(self, session: "CallerSession") -> None:
        """Write through a caller's transaction what `ready_during_transaction` could not. Awaits
        nothing but the session."""
        from windlass.storage.migrate import migrate_in

        await migrate_in(session)
        await self.definitions.sync_in_transaction(session)

    async def reencrypt(self, *, dry_run: bool = False) -> "ReencryptionResult":
        """Encrypt payloads of older keys again with the first key; a `dry_run` only counts them."""
        from windlass.engine.jobs.payload_encryption import reencrypt

        return await reencrypt(self.storage, self.sealer, dry_run=dry_run)

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        """Subscribe to nudges from other processes; None means all queues."""
        return await self.storage.database.watch(queues)

    async def now(self) -> datetime:
        """The time by the database's clock, which all instants of jobs are."""
        return await self.storage.now()

    async def close(self) -> None:
        """End what runs in the background and close the connections."""
        await self.background.close()
        if self._built("access"):
            try:
                await self.access.refusals.flush(everything=True)
            except WindlassError as error:
                self.telemetry.trouble("writing how many attempts were refused", error)
        if self._built("remote"):
            await self.remote.times.close()
        if self._built("events"):
            await self.events.close()
        await self.nudges.close()
        await self.storage.close()

    def _built(self, noun: str) -> bool:
        return noun in self.__dict__

    async def _check_once(self) -> None:
        if not self._checked:
            async with self._checking:
                if not self._checked:
                    await self._check()

    async def _check(self) -> None:
        if self.storage.database.kind == "sqlite" and (await self.schema.status()).pending:
            await self.schema.migrate()
        await self.schema.check()
        for warning in await self.storage.database.warnings():
            self.telemetry.warn(warning)
        self._checked = True
