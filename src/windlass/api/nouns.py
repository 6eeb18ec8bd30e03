"""The nouns of the API, a module of routes each."""

from collections.abc import Sequence
from importlib import import_module

from starlette.routing import BaseRoute

#: In the order of the reference.
NOUNS = (
    "jobs",
    "dead",
    "operations",
    "definitions",
    "schedules",
    "triggers",
    "events",
    "queues",
    "workers",
    "logs",
    "worker",
    "tenants",
    "members",
    "users",
    "tokens",
    "audit",
    "stats",
    "stream",
)


def routes_of(noun: str) -> Sequence[BaseRoute]:
    """The routes of a noun, imported and made now if they were not."""
    made: Sequence[BaseRoute] = import_module(f"windlass.api.routes.{noun}").routes.made
    return made
