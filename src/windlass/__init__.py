"""Durable background jobs on the database you already have."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.app import Windlass
    from windlass.core.backoff import Backoff
    from windlass.core.models import Job, Receipt
    from windlass.core.schedule import cron, every, init, once
    from windlass.core.trigger import Event, Trigger
    from windlass.errors import JobFailed, Permanent, Stopped, WindlassError
    from windlass.settings import Settings
    from windlass.worker.context import JobContext

__all__ = [
    "Backoff",
    "Event",
    "Job",
    "JobContext",
    "JobFailed",
    "Permanent",
    "Receipt",
    "Settings",
    "Stopped",
    "Trigger",
    "Windlass",
    "WindlassError",
    "cron",
    "every",
    "init",
    "once",
]

# A name is imported when it is first used: `windlass --help` must not wait for the engine.
_HOMES = {
    "Backoff": "windlass.core.backoff",
    "Event": "windlass.core.trigger",
    "Job": "windlass.core.models",
    "JobContext": "windlass.worker.context",
    "JobFailed": "windlass.errors",
    "Permanent": "windlass.errors",
    "Receipt": "windlass.core.models",
    "Settings": "windlass.settings",
    "Stopped": "windlass.errors",
    "Trigger": "windlass.core.trigger",
    "Windlass": "windlass.app",
    "WindlassError": "windlass.errors",
    "cron": "windlass.core.schedule",
    "every": "windlass.core.schedule",
    "init": "windlass.core.schedule",
    "once": "windlass.core.schedule",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'windlass' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
