"""Stores jobs and events of a program: singly, in bulk, or in the program's transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from windlass.app.declared import inherited_options
from windlass.core.jobs.models import NewJob, OnDuplicate, Receipt
from windlass.core.jobs.options import OptionSet, PreparedJob
from windlass.core.triggers.trigger import Event
from windlass.engine.engine import Engine
from windlass.engine.triggers.events import EventOptions
from windlass.storage.callers import CallerSession
from windlass.worker.context import CURRENT_LEASE, CurrentJob

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass


class Deliveries:
    """Stores jobs and events, for the async and the blocking API."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app

    async def prepare(
        self, key: str, payload: Mapping[str, Any] | None, options: OptionSet
    ) -> PreparedJob:
        """Create a job by its definition's key; inside a handler it inherits options."""
        engine = self._app.engine
        if not engine.definitions.is_declared(key):
            await engine.ready()
        return await engine.jobs.prepare(
            key, payload, options.with_defaults_from(inherited_options())
        )

    async def deliver(self, prepared: PreparedJob, tx: object) -> Receipt:
        """Store a job, in the caller's transaction if there is one."""
        job, on_duplicate = prepared
        if tx is None:
            engine = await self._app.ready()
            return await engine.jobs.submit(job, on_duplicate=on_duplicate)
        [receipt] = await self.store([job], on_duplicate=on_duplicate, tx=tx)
        return receipt

    async def store(
        self,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate,
        progress: Callable[[int, int], None] | None = None,
        tx: object = None,
    ) -> list[Receipt]:
        """Store jobs, in the caller's transaction if there is one; returns a receipt for each."""
        engine, session, ready = await self.join(tx)
        with engine.jobs.hooked(jobs) as sent:
            if session is None:
                return await engine.jobs.enqueue_many(
                    sent, on_duplicate=on_duplicate, progress=progress
                )
            if not ready:
                await engine.ready_in_transaction(session)
            await engine.jobs.check(sent)
            over = await engine.open_job_caps.over(sent)
            stored = await engine.jobs.enqueue_in(
                session, sent, on_duplicate=on_duplicate, over=over
            )
            return await engine.jobs.joined(sent, stored, on_duplicate)

    async def emit(
        self, name: str, data: Mapping[str, Any] | None, about: EventOptions, *, tx: object = None
    ) -> Event:
        """Store an event, in the caller's transaction if there is one, and create its jobs."""
        engine, session, ready = await self.join(tx)
        event = engine.events.make(name, dict(data or {}), **with_inherited_options(about))
        if session is None:
            return await engine.events.emit(event)
        if not ready:
            await engine.ready_in_transaction(session)
        await engine.events.emit_in(session, event)
        await engine.events.match_after_commit(event.id)
        return event

    async def join(self, tx: object) -> tuple[Engine, CallerSession | None, bool]:
        """The engine, a session in the caller's transaction if there is one, and True if the
        database is ready; otherwise it must be set up through the session."""
        engine = self._app.engine
        session = engine.join(tx)
        return engine, session, await self.ready(engine, session)

    async def engine(self) -> Engine:
        """The engine of the current loop; it may not be ready."""
        return self._app.engine

    async def ready(self, engine: Engine, session: CallerSession | None) -> bool:
        """Make the database ready; during a caller's transaction only check that it is."""
        if session is not None:
            return await engine.ready_during_transaction()
        await engine.ready()
        return True


def with_inherited_options(about: EventOptions) -> EventOptions:
    """The options of an event, completed from the job whose handler emits it: tenant, correlation
    id, and a depth one below the event that created the job. Options in `about` take precedence."""
    lease = CURRENT_LEASE.get()
    if lease is None:
        return about
    about = {**inherited_options(), **about}
    depth = CurrentJob(lease).metadata.get("event_depth")
    return {**about, "depth": depth + 1} if isinstance(depth, int) else about
