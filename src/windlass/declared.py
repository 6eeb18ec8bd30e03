"""What `@wl.job` leaves in place of a function: the same function, and ways to enqueue it."""

from collections.abc import Callable
from copy import copy
from functools import update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    Unpack,
    overload,
)

from windlass.core.models import NewJob, Receipt
from windlass.options import Delivery, OptionNames
from windlass.worker.context import JobContext
from windlass.worker.handlers import Handler

if TYPE_CHECKING:
    from windlass import sync
    from windlass.app import Windlass

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Declared(Generic[P, R_co]):
    """A function declared as a job. Calling it runs the function here and now, as before."""

    def __init__(self, handler: Handler, delivery: Delivery | None = None) -> None:
        self.handler = handler
        self._delivery = delivery or Delivery({})
        self._stamp: Callable[[str], NewJob] | None = None
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
        self._delivery.check_makeable()
        return self._made(args, kwargs)

    def options(self, **options: Unpack[OptionNames]) -> Self:
        """The same job, delivered otherwise: tenant, delay, priority, keys, parents, tx …"""
        other = copy(self)
        other._delivery = self._delivery.and_also(options)
        other._stamp = None
        return other

    def __repr__(self) -> str:
        return f"<job {self.key}>"

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NewJob:
        if self._stamp is None:
            self._stamp = self._delivery.stamp(self.handler.definition)
        return self._stamp(self.handler.payload.encode(args, kwargs))


class DeclaredJob(Declared[P, R_co]):
    """A job as its author uses it where code awaits."""

    def __init__(self, app: "Windlass", handler: Handler, delivery: Delivery | None = None) -> None:
        super().__init__(handler, delivery)
        self._app = app

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt:
        """Store a job with these arguments; they are validated first."""
        job = self._made(args, kwargs)
        deliveries = self._app.deliveries
        return await deliveries.deliver(job, self.handler.definition, self._delivery)

    @property
    def blocking(self) -> "BlockingJob[P, R_co]":
        """The same for code that cannot await."""
        return BlockingJob(self._app.blocking, self.handler, self._delivery)


class BlockingJob(Declared[P, R_co]):
    """A job as its author uses it where code blocks."""

    def __init__(
        self, app: "sync.Windlass", handler: Handler, delivery: Delivery | None = None
    ) -> None:
        super().__init__(handler, delivery)
        self._app = app

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Receipt:
        """Store a job with these arguments, validated first, and return when it is durable."""
        job = self._made(args, kwargs)
        return self._app.deliver(job, self.handler.definition, self._delivery)


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
