"""Resolves the target of a command: flags, environment, and the context in use."""

import os

import click

from windlass.cli.connect import contexts
from windlass.cli.connect.contexts import Context
from windlass.cli.framework.flags import Flags

_DATABASE = "WINDLASS_DATABASE_URL"


def resolve_target(flags: Flags, *, current: bool) -> Context | None:
    """Put what the context in use says among the flags; the context, if one is in use.

    `current`: the chosen one counts, not only one that is named.
    """
    context = _active_context(flags, current=current)
    if context is not None:
        flags.url, flags.db, flags.context = context.url, context.db, context.name
        if not flags.typed("token_file"):
            flags.token_file = context.token_file
        if flags.tenant is None or (flags.typed("context") and not flags.typed("tenant")):
            flags.tenant = context.tenant or flags.tenant
    _resolve_tenant(flags)
    return context


def _active_context(flags: Flags, *, current: bool) -> Context | None:
    # One that is typed is a flag: only flags win over it.
    typed = flags.typed("context")
    other = flags.typed("url") or flags.typed("db")
    if not typed:
        other = other or bool(flags.url or flags.db or os.environ.get(_DATABASE))
    if flags.context is not None:
        named = contexts.read().named(flags.context)  # a name that is wrong is told in any case
        return None if other else named
    if other or not current:
        return None
    found = contexts.read()
    return found.named(found.current) if found.current else None


def _resolve_tenant(flags: Flags) -> None:
    if not flags.all_tenants:
        return
    if flags.typed("tenant"):
        if flags.typed("all_tenants"):
            raise click.UsageError("--all-tenants and --tenant exclude each other")
        return
    flags.tenant = None
