"""Durable background jobs on the database you already have."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.app.receipts import JobReceipt as Receipt
    from windlass.app.windlass import Windlass
    from windlass.core.definitions.backoff import Backoff
    from windlass.core.jobs.models import Job
    from windlass.core.triggers.schedule import cron, every, init, once
    from windlass.core.triggers.trigger import Event, Trigger
    from windlass.errors import (
        JobCanceled,
        JobFailed,
        Permanent,
        Stopped,
        WaitTimeout,
        WindlassError,
    )
    from windlass.settings import Settings
    from windlass.worker.context import JobContext
    from windlass.worker.retrying import Retry, Snooze

__all__ = [
    "Backoff",
    "Event",
    "Job",
    "JobCanceled",
    "JobContext",
    "JobFailed",
    "Permanent",
    "Receipt",
    "Retry",
    "Settings",
    "Snooze",
    "Stopped",
    "Trigger",
    "WaitTimeout",
    "Windlass",
    "WindlassError",
    "cron",
    "every",
    "init",
    "once",
]

# A name is imported when it is first used: `windlass --help` must not wait for the engine.
_HOMES = {
    "Backoff": "windlass.core.definitions.backoff",
    "Event": "windlass.core.triggers.trigger",
    "Job": "windlass.core.jobs.models",
    "JobCanceled": "windlass.errors",
    "JobContext": "windlass.worker.context",
    "JobFailed": "windlass.errors",
    "Permanent": "windlass.errors",
    "Receipt": "windlass.app.receipts",
    "Retry": "windlass.worker.retrying",
    "Settings": "windlass.settings",
    "Snooze": "windlass.worker.retrying",
    "Stopped": "windlass.errors",
    "Trigger": "windlass.core.triggers.trigger",
    "WaitTimeout": "windlass.errors",
    "Windlass": "windlass.app.windlass",
    "WindlassError": "windlass.errors",
    "cron": "windlass.core.triggers.schedule",
    "every": "windlass.core.triggers.schedule",
    "init": "windlass.core.triggers.schedule",
    "once": "windlass.core.triggers.schedule",
}
#: The name at home, where it is another.
_NAMES = {"Receipt": "JobReceipt"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'windlass' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), _NAMES.get(name, name))
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
