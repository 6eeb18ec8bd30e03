"""The nouns of the API, a module of routes each."""

from importlib import import_module

from fastapi import APIRouter

PREFIX = "/api/v1"

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


def router_of(noun: str) -> APIRouter:
    """The routes of a noun, imported and made now if they were not."""
    router: APIRouter = import_module(f"windlass.api.routes.{noun}").routes.router
    return router
