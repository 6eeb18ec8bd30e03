"""The object that `@wl.job` puts in place of a function: callable as before, and enqueued."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    Unpack,
    overload,
)

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import NewJob, OnDuplicate, Receipt
from windlass.core.jobs.options import EnqueueOptions, InheritedOptions, OptionSet, PreparedJob
from windlass.core.payloads.json_text import load_json
from windlass.errors import DefinitionInvalid
from windlass.worker.context import CURRENT_LEASE, JobContext
from windlass.worker.handlers import Handler

if TYPE_CHECKING:
    from windlass.app import sync
    from windlass.app.windlass import Windlass

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")
Upcast = TypeVar("Upcast", bound=Callable[[Any], Any])


class _JobStamp(NamedTuple):
    """Makes jobs of payloads, for a definition as it is in force, and for the job that enqueues them."""

    definition: Definition
    inherited_options: InheritedOptions
    make: Callable[[str], NewJob]
    on_duplicate: OnDuplicate
    defaults: Mapping[str, Any]


class Declared(Generic[P, R_co]):
    """A function declared as a job. Calling it runs the function here and now, as before."""

    _app: "Windlass | sync.Windlass"

    def __init__(self, handler: Handler, options: OptionSet | None = None) -> None:
        self.handler = handler
        self._options = options or OptionSet({})
        self._stamp: _JobStamp | None = None
        update_wrapper(self, handler.call, updated=())

    @property
    def key(self) -> str:
        """The definition's one name."""
        return self.handler.definition.key

    def __call__(self, *args: Any, **kwargs: Any) -> R_co:
        """Run the function itself, without a queue."""
        ran: R_co = self.handler.call(*args, **kwargs)
        return ran

    def make(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job with these arguments, validated and not stored yet: for `enqueue_many`."""
        self._options.check_makeable()
        return self._make_job(args, kwargs).job

    def options(self, **options: Unpack[EnqueueOptions]) -> Self:
        """The same job, delivered otherwise: tenant, delay, priority, keys, parents, tx …"""
        other = copy(self)
        other._options = self._options.merged_with(options)
        other._stamp = None
        return other

    def upcast(self, *, from_version: int) -> Callable[[Upcast], Upcast]:
        """Declare what brings a payload of an older version up by one, before the handler runs."""
        version = self.handler.definition.version
        if not 1 <= from_version < version:
            raise DefinitionInvalid(
                self.key,
                f"its payload is of version {version}, so none comes from version {from_version}",
                hint="Raise the version: `@wl.job(version=2)` and `@….upcast(from_version=1)`.",
            )

        def register(upcast: Upcast) -> Upcast:
            self.handler.upcasts[from_version] = upcast
            return upcast

        return register

    def __repr__(self) -> str:
        return f"<job {self.key}>"

    @property
    def definition(self) -> Definition:
        """The definition as it is in force: as declared, but for what operators edited."""
        return self._app.effective(self.handler.definition)

    def _make_job(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> PreparedJob:
        """A job with these arguments, validated."""
        definition, job = self.definition, inherited_options()
        # Read once: another thread may be replacing it, for a job of another tenant.
        stamp = self._stamp
        if stamp is None or stamp.definition is not definition or stamp.inherited_options != job:
            make = self._options.with_defaults_from(job).stamp(definition)
            defaults = load_json(definition.default_payload)
            on_duplicate = self._options.on_duplicate(definition)
            self._stamp = stamp = _JobStamp(definition, job, make, on_duplicate, defaults)
        text = self.handler.payload.encode(args, kwargs, stamp.defaults)
        return PreparedJob(stamp.make(text), stamp.on_duplicate)


class DeclaredJob(Declared[P, R_co]):
    """A job as its author uses it where code awaits."""

    _app: "Windlass"

    def __init__(self, app: "Windlass", handler: Handler, options: OptionSet | None = None) -> None:
        super().__init__(handler, options)
        self._app = app

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt:
        """Store a job with these arguments; they are validated first."""
        prepared = self._make_job(args, kwargs)
        if self._options.tx is not None:
            return await self._app.deliveries.deliver(prepared, self._options.tx)
        engine = await self._app.ready()
        return await engine.jobs.submit(prepared.job, on_duplicate=prepared.on_duplicate)

    @property
    def blocking(self) -> "BlockingJob[P, R_co]":
        """The same for code that cannot await."""
        return BlockingJob(self._app.blocking, self.handler, self._options)


class BlockingJob(Declared[P, R_co]):
    """A job as its author uses it where code blocks."""

    _app: "sync.Windlass"

    def __init__(
        self, app: "sync.Windlass", handler: Handler, options: OptionSet | None = None
    ) -> None:
        super().__init__(handler, options)
        self._app = app

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt:
        """Store a job with these arguments, validated first, and return when it is durable."""
        return self._app.deliver(self._make_job(args, kwargs), self._options.tx)


def inherited_options() -> InheritedOptions:
    """The tenant and correlation id for what a handler enqueues or emits; empty outside of a job.

    A job without a correlation id passes on its own id.
    """
    lease = CURRENT_LEASE.get()
    if lease is None:
        return {}
    return {
        "tenant": lease.tenant,
        "correlation_id": lease.correlation_id or str(lease.job_id),
    }


class JobDecorator(Protocol):
    """What `@wl.job(...)` with options gives; a first parameter of type JobContext is filled in
    by the worker, so that callers do not pass it."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[JobContext, P], R], /
    ) -> DeclaredJob[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> DeclaredJob[P, R]: ...


class BlockingDecorator(Protocol):
    """The same for the blocking face."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[JobContext, P], R], /
    ) -> BlockingJob[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> BlockingJob[P, R]: ...
