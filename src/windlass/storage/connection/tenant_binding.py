"""The tenant that a task is bound to, below every verb: see decision 0014.

A request's task is bound once its caller is known. What it starts is bound alike, so work that is for
all tenants steps out of it.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

from windlass.tasks import start_task

_TENANT: ContextVar[str | None] = ContextVar("windlass_tenant", default=None)


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


def spawn_unbound(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a task that serves all tenants, whatever the starting task is bound to."""
    context = copy_context()
    context.run(bind_tenant, None)
    return start_task(work, context=context)
