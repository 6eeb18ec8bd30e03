"""The engine: one storage and the verbs on it, made ready once."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from windlass import clock
from windlass.core.access.roles import ROLES, RoleTable
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.engine.access.audit import Audit
from windlass.engine.access.audit_verify import signing_keys
from windlass.engine.access.authorization import Access
from windlass.engine.access.idempotency import IdempotencyStore
from windlass.engine.access.invitations import Invitations
from windlass.engine.access.login_throttle import Throttle
from windlass.engine.access.members import Members
from windlass.engine.access.passwords import Passwords
from windlass.engine.access.sessions import Sessions
from windlass.engine.access.tenants import Tenants
from windlass.engine.access.tokens import Tokens
from windlass.engine.access.users import Users
from windlass.engine.background_tasks import BackgroundTasks
from windlass.engine.definitions.activity import DefinitionActivityReader
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.dead import DeadLetters
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.jobs.jobs import Jobs
from windlass.engine.jobs.lists import JobLists
from windlass.engine.jobs.logs import Logs
from windlass.engine.jobs.mutes import Mutes
from windlass.engine.jobs.operations import Operations
from windlass.engine.jobs.payload_encryption import create_sealer
from windlass.engine.leases.epochs import Epochs
from windlass.engine.leases.leases import NO_WORKER, Leases
from windlass.engine.leases.queues import Queues
from windlass.engine.leases.remote_latency import RemoteLatencyRecorder
from windlass.engine.leases.remote_workers import RemoteWorkers
from windlass.engine.leases.workers import Workers
from windlass.engine.migrations import Schema
from windlass.engine.monitoring.alerts import Alerts
from windlass.engine.monitoring.counts import Counts
from windlass.engine.monitoring.doctor import Doctor
from windlass.engine.monitoring.integrity import Integrity
from windlass.engine.monitoring.latency import Latency
from windlass.engine.monitoring.metrics import Metrics
from windlass.engine.monitoring.retention import Retention
from windlass.engine.monitoring.summaries import Summaries
from windlass.engine.nudges import Nudges
from windlass.engine.redaction import create_redactor
from windlass.engine.triggers.code_triggers import CodeTriggers
from windlass.engine.triggers.events import Events
from windlass.engine.triggers.job_factory import JobFactory
from windlass.engine.triggers.trigger_dry_run import TriggerDryRuns
from windlass.engine.triggers.triggers import Triggers
from windlass.errors import WindlassError
from windlass.ids import WorkerId
from windlass.settings import Settings
from windlass.storage.callers import CallerSession, caller_session
from windlass.storage.connection.tenant_binding import all_tenants
from windlass.storage.database import Watch
from windlass.storage.migrate import migrate_in
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry


class Engine:
    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        telemetry: Telemetry,
        *,
        roles: RoleTable = ROLES,
        passwords: Passwords | None = None,
    ) -> None:
        self.storage = storage
        self.settings = settings
        self.telemetry = telemetry
        self.sealer = create_sealer(settings)
        self.schema = Schema(storage)
        self.counts = Counts(storage)
        self.integrity = Integrity(storage)
        #: What reads through this engine on behalf of others, such as the live feed.
        self.background = BackgroundTasks()
        self.nudges = Nudges(storage.database)
        self.definitions = Definitions(storage, self.nudges, settings)
        self.latency = Latency(storage)
        self.activity = DefinitionActivityReader(storage, self.definitions, self.latency)
        self.audit = Audit(storage, create_redactor(settings), roles, signing_keys(settings.audit))
        self.access = Access(storage, self.audit, roles)
        rights = EnqueueRights(self.access, self.definitions)
        self.enqueue_rights = rights
        self.jobs = Jobs(storage, self.definitions, self.nudges, rights, self.sealer)
        self.lists = JobLists(storage, self.definitions, create_redactor(settings))
        self.logs = Logs(storage, self.jobs)
        self.summaries = Summaries(storage)
        self.dead = DeadLetters(
            storage, self.jobs, self.definitions, self.nudges, settings, rights, self.sealer
        )
        self.mutes = Mutes(storage)
        self.alerts = Alerts(storage, settings, telemetry)
        self.tenants = Tenants(storage, self.nudges, self.jobs.caps, self.audit)
        self.queues = Queues(storage, self.nudges)
        self.job_factory = JobFactory(self.definitions, settings, rights, self.sealer)
        self.code_triggers = CodeTriggers(storage, self.tenants)
        self.triggers = Triggers(
            storage,
            self.job_factory,
            self.jobs,
            self.tenants,
            self.nudges,
            telemetry,
            self.enqueue_rights,
        )
        self.events = Events(storage, self.job_factory, self.nudges, telemetry)
        self.trigger_dry_runs = TriggerDryRuns(self.triggers, self.events, self.job_factory)
        self.epochs = Epochs(storage, telemetry)
        self.workers = Workers(storage, self.nudges, self.epochs)
        self.metrics = Metrics(storage)
        self.doctor = Doctor(storage, settings, self.epochs)
        self.retention = Retention(storage, settings)
        self.remote = RemoteWorkers(
            lambda worker: self.leases(worker=worker),
            storage,
            self.definitions,
            self.workers,
            settings,
            telemetry,
            RemoteLatencyRecorder(self.latency, telemetry),
            self.sealer,
        )
        self.passwords = passwords or Passwords()
        self.tokens = Tokens(storage, self.access, self.audit)
        self.users = Users(storage, self.access, self.audit, self.passwords)
        self.members = Members(storage, self.access, self.audit)
        self.sessions = Sessions(
            storage, self.access, self.audit, self.passwords, Throttle(storage, telemetry)
        )
        self.invitations = Invitations(storage, self.audit, self.passwords, self.sessions)
        self.answers = IdempotencyStore(storage)
        self.operations = Operations(
            storage, self.access, self.audit, self.lists, self.enqueue_rights
        )
        self._checked = False
        self._checking = asyncio.Lock()

    def leases(
        self,
        who: Callable[[LeaseRef], Lease | None] = lambda held: None,
        *,
        worker: WorkerId = NO_WORKER,
    ) -> Leases:
        """The worker's side; one for each worker, who knows the leases it holds."""
        return Leases(
            self.storage, self.nudges, self.events, self.telemetry, who, self.sealer, worker
        )

    def reopen(self, *, lease_time: timedelta) -> "Engine":
        """The same engine over connections of its own, for a thread with its own event loop."""
        storage = self.storage.reopen(lease_time=lease_time)
        return Engine(storage, self.settings, self.telemetry, passwords=self.passwords)

    def join(self, tx: object) -> CallerSession | None:
        """A session in a caller's own transaction; None where none was given."""
        return None if tx is None else caller_session(tx, self.storage.database)

    async def ready(self) -> None:
        """Check the schema once, and make definitions declared since known to everybody.

        A SQLite file is migrated here; a server's database only by `windlass db migrate`.
        """
        if self._settled(clock.monotonic()):
            return
        with all_tenants():  # what is learned here is for all who ask
            if not self._checked:
                async with self._checking:
                    if not self._checked:
                        await self._check()
            await self.definitions.sync()
            await self.code_triggers.sync()
            await self.definitions.refresh()
            await self.jobs.caps.refresh()

    def _settled(self, now: float) -> bool:
        return (
            self._checked
            and self.definitions.settled(now)
            and self.code_triggers.settled
            and self.jobs.caps.settled(now)
        )

    async def ready_during_transaction(self) -> bool:
        """The same while a caller's transaction is open. False if something must be written that
        we cannot write: the transaction may have locked all of a SQLite file, and waits for us."""
        if self.storage.database.kind != "sqlite":
            await self.ready()
            return True
        migrated = self._checked or not (await self.schema.status()).pending
        return migrated and await self.definitions.is_synced()

    async def ready_in_transaction(self, session: CallerSession) -> None:
        """Write through a caller's transaction what `ready_during_transaction` could not. Awaits nothing but
        the session."""
        await migrate_in(session)
        await self.definitions.sync_in_transaction(session)

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        """Hear nudges from other processes; None means all queues."""
        return await self.storage.database.watch(queues)

    async def now(self) -> datetime:
        """The time by the database's clock, which all instants of jobs are."""
        return await self.storage.now()

    async def close(self) -> None:
        await self.background.close()
        try:
            await self.access.refusals.flush(everything=True)
        except WindlassError as error:
            self.telemetry.trouble("writing how many attempts were refused", error)
        await self.remote.times.close()
        await self.events.close()
        await self.nudges.close()
        await self.storage.close()

    async def _check(self) -> None:
        if self.storage.database.kind == "sqlite" and (await self.schema.status()).pending:
            await self.schema.migrate()
        await self.schema.check()
        for warning in await self.storage.database.warnings():
            self.telemetry.warn(warning)
        self._checked = True
