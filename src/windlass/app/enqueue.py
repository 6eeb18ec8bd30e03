"""Jobs and events on their way into the database: alone, in bulk, or in a caller's transaction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from windlass.app.options import Delivery
from windlass.core.access.principal import Principal
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import NewJob, OnDuplicate, Receipt
from windlass.core.triggers.trigger import Event
from windlass.engine.engine import Engine
from windlass.engine.triggers.events import EventOptions
from windlass.engine.triggers.job_factory import completed, definition_payload
from windlass.storage.callers import CallerSession
from windlass.storage.jobs.enqueue import EnqueueRequest
from windlass.worker.context import inherited_options

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass

AroundEnqueue = Callable[[Sequence[NewJob]], AbstractContextManager[Sequence[NewJob]]]


class Deliveries:
    """What an app does to get jobs stored; both faces go through it."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app

    async def prepare(
        self, key: str, payload: Mapping[str, Any] | None, delivery: Delivery
    ) -> tuple[NewJob, Definition]:
        """A job and its definition, by key: the handler's where it is known here, else the row's."""
        delivery = delivery.with_defaults_from(inherited_options())
        if handler := self._app.handlers.get(key):
            definition = self._app.effective(handler.definition)
            text = handler.payload.write(completed(definition, payload))
            return delivery.job(definition, text), definition
        definition = await (await self._app.ready()).definitions.get(key)
        limit = self._app.settings.limits.payload_bytes
        text = definition_payload(definition, limit).write(completed(definition, payload))
        return delivery.job(definition, text), definition

    async def deliver_all(
        self,
        prepared: Sequence[tuple[NewJob, Definition, Delivery]],
        *,
        by: Principal | None = None,
    ) -> list[Receipt]:
        """Store jobs in one transaction, each as its delivery says, or none of them."""
        engine = await self._app.ready()
        how = [delivery.on_duplicate(definition) for _, definition, delivery in prepared]
        with self.enqueue_hooks([job for job, _, _ in prepared]) as sent:
            asked = [EnqueueRequest(job, each) for job, each in zip(sent, how, strict=True)]
            return await engine.jobs.enqueue_together(asked, by=by)

    async def store(
        self,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate,
        progress: Callable[[int, int], None] | None = None,
        tx: object = None,
    ) -> list[Receipt]:
        """Store jobs, in a caller's transaction if there is one, and answer a receipt for each."""
        engine, session, ready = await self.join(tx)
        with self.enqueue_hooks(jobs) as sent:
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
        """Keep an event, in a caller's transaction if there is one, and have its jobs made."""
        engine, session, ready = await self.join(tx)
        event = engine.events.make(name, dict(data or {}), **about)
        if session is None:
            return await engine.events.emit(event)
        if not ready:
            await engine.ready_in_transaction(session)
        await engine.events.emit_in(session, event)
        await engine.events.match_after_commit(event.id)
        return event

    @contextmanager
    def enqueue_hooks(self, jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
        """Be inside all that goes around an enqueue, with the jobs that come of it."""
        with ExitStack() as stack:
            for wrap in self._app.around_enqueues:
                jobs = stack.enter_context(wrap(jobs))
            yield jobs

    async def join(self, tx: object) -> tuple[Engine, CallerSession | None, bool]:
        """The engine, a session in a caller's transaction if there is one, and whether the
        database is ready: if not, it has to be made so through the session."""
        engine = self._app.engine
        session = engine.join(tx)
        return engine, session, await self.ready(engine, session)

    async def engine(self) -> Engine:
        """The engine of the loop this runs in, which need not be ready."""
        return self._app.engine

    async def ready(self, engine: Engine, session: CallerSession | None) -> bool:
        """Make the database ready; beside a caller's transaction only answer whether it is."""
        if session is not None:
            return await engine.ready_during_transaction()
        await engine.ready()
        return True

    async def deliver(
        self,
        job: NewJob,
        definition: Definition,
        delivery: Delivery,
        *,
        by: Principal | None = None,
    ) -> Receipt:
        """Store a job as its delivery says: alone, or in the caller's transaction. `by` is whose right
        to enqueue is asked for; None is the program itself, and so is the owner of a transaction."""
        on_duplicate = delivery.on_duplicate(definition)
        if delivery.tx is None:
            engine = await self._app.ready()
            if not self._app.around_enqueues:
                return await engine.jobs.enqueue(job, on_duplicate=on_duplicate, by=by)
            with self.enqueue_hooks([job]) as [sent]:
                return await engine.jobs.enqueue(sent, on_duplicate=on_duplicate, by=by)
        [receipt] = await self.store([job], on_duplicate=on_duplicate, tx=delivery.tx)
        return receipt
