"""Windlass's own tasks: protected in an event loop that handlers share, and bound to a tenant.

Handlers run in the same event loop and may cancel every task that `asyncio.all_tasks` lists, stop
the loop, or let SystemExit rise out of a task they made, which asyncio passes on to who runs the
loop. None of that may stop a worker.

A request's task is bound to a tenant once its caller is known: see decision 0014. What it starts is
bound alike, so work that is for all tenants steps out of it.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_LOGGER = logging.getLogger("windlass")
_TENANT: ContextVar[str | None] = ContextVar("windlass_tenant", default=None)


def start_task(
    work: Coroutine[Any, Any, T], *, name: str | None = None, context: Context | None = None
) -> asyncio.Task[T]:
    """Start a task that `asyncio.all_tasks` does not list. The caller has to end it."""
    return _unlist(asyncio.get_running_loop().create_task(work, name=name, context=context))


def spawn_unbound(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a task that serves all tenants, whatever the starting task is bound to."""
    context = copy_context()
    context.run(bind_tenant, None)
    return start_task(work, context=context)


def bind_tenant(tenant: str | None) -> None:
    """Bind this task, and what it starts from now on, to a tenant; None unbinds it."""
    _TENANT.set(tenant)


def bound_tenant() -> str | None:
    """The tenant that this task is bound to, if any."""
    return _TENANT.get()


@contextmanager
def all_tenants() -> Iterator[None]:
    """Run the block for all tenants."""
    before = _TENANT.set(None)
    try:
        yield
    finally:
        _TENANT.reset(before)


def run(
    main: Coroutine[Any, Any, T],
    *,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> T:
    """Run a coroutine to its end in a new event loop, whatever tasks and callbacks of handlers do.

    Install signal handlers inside it: an exception that one raises outside would be taken for an
    exception of a job's handler.
    """
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        loop = runner.get_loop()
        task = _unlist(loop.create_task(main))
        while not task.done():
            _run_until_done(loop, task)
        return task.result()


def _run_until_done(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[Any]") -> None:
    """Run the loop until the task is done, or until something else ends it."""
    try:
        loop.run_until_complete(task)
    except BaseException as error:
        if task.done():
            raise
        # The loop can be run again: only what raised this has ended.
        _LOGGER.warning(
            "a handler's task ended the event loop with %s; it is restarted", type(error).__name__
        )


def _unlist(task: "asyncio.Task[T]") -> "asyncio.Task[T]":
    # A hook for extensions of asyncio: the list serves only `all_tasks`.
    asyncio._unregister_task(task)
    return task
