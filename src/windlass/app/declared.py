"""The object that `@wl.job` returns: callable like the function, and it can be enqueued."""

from collections.abc import Callable, Coroutine, Mapping
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

from windlass.app.receipts import BlockingReceipt, JobReceipt
from windlass.core.definitions.definition import Definition
from windlass.core.definitions.foreign_names import JOB_VERBS
from windlass.core.jobs.models import NewJob, OnDuplicate
from windlass.core.jobs.options import EnqueueOptions, InheritedOptions, OptionSet, PreparedJob
from windlass.core.payloads.json_text import load_json
from windlass.errors import DefinitionInvalid, JobVerbUnknown
from windlass.worker.context import CURRENT_LEASE, JobContext
from windlass.worker.handlers import Handler

if TYPE_CHECKING:
    from windlass.app import sync
    from windlass.app.windlass import Windlass

P = ParamSpec("P")
#: What calling the function returns, and the job's result: what that is once awaited.
R_co = TypeVar("R_co", covariant=True)
T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")
T = TypeVar("T")
Upcast = TypeVar("Upcast", bound=Callable[[Any], Any])


class _JobStamp(NamedTuple):
    """Creates jobs from payloads, for an effective definition and the enqueuing job's options."""

    definition: Definition
    inherited_options: InheritedOptions
    make: Callable[[str], NewJob]
    on_duplicate: OnDuplicate
    defaults: Mapping[str, Any]


class Declared(Generic[P, R_co, T_co]):
    """A function declared as a job. Calling it runs the function directly."""

    _app: "Windlass | sync.Windlass"

    def __init__(self, handler: Handler, options: OptionSet | None = None) -> None:
        self.handler = handler
        self._options = options or OptionSet({})
        self._stamp: _JobStamp | None = None
        update_wrapper(self, handler.call, updated=())

    @property
    def key(self) -> str:
        """The definition's unique name."""
        return self.handler.definition.key

    def __call__(self, *args: Any, **kwargs: Any) -> R_co:
        """Run the function itself, without a queue."""
        ran: R_co = self.handler.call(*args, **kwargs)
        return ran

    def make(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """Create a validated job with these arguments, without storing it, for `enqueue_many`."""
        self._options.check_makeable()
        return self._make_job(args, kwargs).job

    def options(self, **options: Unpack[EnqueueOptions]) -> Self:
        """The same job with enqueue options: tenant, delay, priority, keys, parents, tx …"""
        other = copy(self)
        other._options = self._options.merged_with(options)
        other._stamp = None
        return other

    def upcast(self, *, from_version: int) -> Callable[[Upcast], Upcast]:
        """Declare a function that upgrades a payload by one version before the handler runs."""
        version = self.handler.definition.version
        if not 1 <= from_version < version:
            raise DefinitionInvalid(
                self.key,
                f"its payload has version {version}: no upcast from version {from_version} applies",
                hint="Raise the version: `@wl.job(version=2)` and `@….upcast(from_version=1)`.",
            )

        def register(upcast: Upcast) -> Upcast:
            self.handler.upcasts[from_version] = upcast
            return upcast

        return register

    def __repr__(self) -> str:
        return f"<job {self.key}>"

    if not TYPE_CHECKING:  # a type checker shall find every unknown name

        def __getattr__(self, name: str) -> Any:
            """Say what Windlass has instead of another library's verb."""
            if name in JOB_VERBS:
                raise JobVerbUnknown(name, ours=JOB_VERBS[name])
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def definition(self) -> Definition:
        """The effective definition: as declared, with operators' edits."""
        return self._app.effective(self.handler.definition)

    def _make_job(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> PreparedJob:
        """Create a validated job with these arguments."""
        definition, job = self.definition, inherited_options()
        # Read once: another thread may replace it meanwhile, for a job of another tenant.
        stamp = self._stamp
        if stamp is None or stamp.definition is not definition or stamp.inherited_options != job:
            make = self._options.with_defaults_from(job).stamp(definition)
            defaults = load_json(definition.default_payload)
            on_duplicate = self._options.on_duplicate(definition)
            self._stamp = stamp = _JobStamp(definition, job, make, on_duplicate, defaults)
        text = self.handler.payload.encode(args, kwargs, stamp.defaults)
        return PreparedJob(stamp.make(text), stamp.on_duplicate)


class DeclaredJob(Declared[P, R_co, T_co]):
    """A declared job for async code."""

    _app: "Windlass"

    def __init__(self, app: "Windlass", handler: Handler, options: OptionSet | None = None) -> None:
        super().__init__(handler, options)
        self._app = app

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobReceipt[T_co]:
        """Validate these arguments and store a job with them. `wait` of the receipt returns the
        job's result."""
        prepared = self._make_job(args, kwargs)
        if self._options.tx is not None:
            receipt = await self._app.deliveries.deliver(prepared, self._options.tx)
        else:
            engine = await self._app.ready()
            receipt = await engine.jobs.submit(prepared.job, on_duplicate=prepared.on_duplicate)
        return JobReceipt.of(receipt, self._app)

    @property
    def blocking(self) -> "BlockingJob[P, R_co, T_co]":
        """The same job for blocking code."""
        return BlockingJob(self._app.blocking, self.handler, self._options)


class BlockingJob(Declared[P, R_co, T_co]):
    """A declared job for blocking code."""

    _app: "sync.Windlass"

    def __init__(
        self, app: "sync.Windlass", handler: Handler, options: OptionSet | None = None
    ) -> None:
        super().__init__(handler, options)
        self._app = app

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> BlockingReceipt[T_co]:
        """Validate these arguments, store a job with them, and return when it is durable. `wait` of
        the receipt returns the job's result."""
        receipt = self._app.deliver(self._make_job(args, kwargs), self._options.tx)
        return BlockingReceipt.of(receipt, self._app)


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
    """Decorator returned by `@wl.job(...)` with options. The worker passes a first parameter of
    type JobContext, so callers do not."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[JobContext, P], Coroutine[Any, Any, T]], /
    ) -> DeclaredJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> DeclaredJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[JobContext, P], R], /
    ) -> DeclaredJob[P, R, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> DeclaredJob[P, R, R]: ...


class BlockingDecorator(Protocol):
    """The same for the blocking API."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[JobContext, P], Coroutine[Any, Any, T]], /
    ) -> BlockingJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> BlockingJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[JobContext, P], R], /
    ) -> BlockingJob[P, R, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> BlockingJob[P, R, R]: ...
