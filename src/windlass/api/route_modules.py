"""Route modules of the API: one for each noun, imported when its routes are first asked for."""

from collections.abc import Sequence
from importlib import import_module

from starlette.routing import BaseRoute

#: Noun -> module below `windlass.api`, in the order of the reference.
NOUNS = {
    "jobs": "jobs.jobs",
    "dead": "jobs.dead",
    "operations": "jobs.operations",
    "definitions": "definitions.definitions",
    "schedules": "triggers.schedules",
    "triggers": "triggers.triggers",
    "events": "triggers.events",
    "queues": "leases.queues",
    "workers": "leases.workers",
    "logs": "jobs.logs",
    "worker": "leases.http_workers",
    "tenants": "access.tenants",
    "members": "access.members",
    "users": "access.users",
    "tokens": "access.tokens",
    "audit": "access.audit",
    "stats": "monitoring.stats",
    "stream": "live.stream",
}


def routes_of(noun: str) -> Sequence[BaseRoute]:
    """The routes of a noun, imported and made now if they were not."""
    made: Sequence[BaseRoute] = import_module(f"windlass.api.{NOUNS[noun]}").routes.made
    return made
