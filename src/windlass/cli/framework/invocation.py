"""One run of a command: its flags, settings, output, and access to the API or the database.

Heavy modules are imported where they are used: help and usage errors appear at once.
"""

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from windlass.cli.framework.flags import Flags
from windlass.cli.text.output import Output
from windlass.cli.text.printing import confirm, prompt
from windlass.errors.wording import printable

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client
    from windlass.cli.connect.contexts import Context
    from windlass.cli.connect.in_process_api import LocalApp
    from windlass.cli.connect.server_address import ServerAddress
    from windlass.settings import Settings

T = TypeVar("T")
_DATABASE_VARIABLE = "WINDLASS_DATABASE_URL"


class Invocation:
    """One run of a command. `runs_here`: it runs jobs or serves, and follows a context only if one
    is given by name. `only_reads`: it creates no database."""

    def __init__(self, flags: Flags, *, runs_here: bool = False, only_reads: bool = False) -> None:
        self._given = flags
        self._runs_here = runs_here
        self._only_reads = only_reads

    @property
    def flags(self) -> Flags:
        """The given flags, completed by the context in use."""
        self.context  # noqa: B018  read once, and its values are among the flags
        return self._given

    @cached_property
    def context(self) -> "Context | None":
        """The context in use."""
        return _resolve_target(self._given, current=not self._runs_here)

    def typed(self, *names: str) -> dict[str, str]:
        """Those of these flags that were typed on the command line."""
        return {name: getattr(self._given, name) for name in names if self._given.typed(name)}

    @cached_property
    def out(self) -> Output:
        return Output(self._given)

    @cached_property
    def settings(self) -> "Settings":
        """The settings in force, with --db on top."""
        from windlass.settings import Settings

        of_context = self.context is not None and self.context.db is not None
        origin = f"context {self.context.name}" if of_context and self.context else "argument"
        return Settings.load({"database.url": self.flags.db}, origin=origin)

    @cached_property
    def server(self) -> "ServerAddress | None":
        """The server that --url names; None if the command works on a database."""
        import click

        from windlass.cli.connect.server_address import ServerAddress

        if self.flags.url is None:
            return None
        if self.flags.db:
            raise click.UsageError("--url and --db exclude each other")
        return ServerAddress.of(self.flags.url, self.flags.token_file)

    def ask(
        self, question: "Callable[[Client], Coroutine[Any, Any, T]]", *, limited: bool = True
    ) -> T:
        """Run `work` with a client of the server or the database; --timeout applies if
        `limited`."""
        import asyncio

        reached = self._reach()

        async def run() -> T:
            async with reached as client:
                return await question(self._dry_run_client(client))

        return asyncio.run(self._with_timeout(run()) if limited else run())

    def _dry_run_client(self, client: "Client") -> "Client":
        if self.flags.would is None:
            return client
        from windlass.cli.framework.dry_run import dry_run_client

        return dry_run_client(client)

    def _reach(self) -> "AbstractAsyncContextManager[Client]":
        """Open the client. Imports happen here, before --timeout starts to count."""
        if self.server is not None:
            from windlass.cli.connect.remote_api import remote_client

            return remote_client(self.server, self.flags.tenant)
        from windlass.cli.connect.in_process_api import in_process_client

        @asynccontextmanager
        async def here() -> "AsyncIterator[Client]":
            async with self._app() as app:
                yield in_process_client(app, actor(), self.flags.tenant)

        return here()

    def on_database(self, work: "Callable[[LocalApp], Coroutine[Any, Any, T]]") -> T:
        """Run `work` with the database itself, within --timeout."""
        import asyncio

        import click

        if self.server is not None:
            raise click.UsageError("this works on a database: give --db, and no --url")

        async def run() -> T:
            async with self._app() as app:
                return await work(app)

        return asyncio.run(self._with_timeout(run()))

    @asynccontextmanager
    async def _app(self) -> "AsyncIterator[LocalApp]":
        from windlass.cli.connect.in_process_api import LocalApp

        app = LocalApp(self.settings, only_reads=self._only_reads)
        try:
            yield app
        finally:
            await app.close()

    def confirm(self, doing: str, question: str) -> None:
        """Return if the person confirms or --yes is given; without a terminal raise, never hang."""
        if not self._needs_no_question(doing):
            confirm(f"{self._context_prefix}{question}")

    def confirm_typed(self, doing: str, question: str, name: str) -> None:
        """Like `confirm`, for dangerous actions: the person types the name of the target."""
        import click

        if self._needs_no_question(doing):
            return
        text = f"{self._context_prefix}{question}"
        # Control characters cannot be typed; the question shows their escapes, so accept those.
        if prompt(text, default="", show_default=False) not in (name, printable(name)):
            self.out.say("Names do not match; nothing changed.")
            raise click.Abort

    def _needs_no_question(self, doing: str) -> bool:
        """True if no question is needed; ConfirmationNeeded if there is no terminal to ask on."""
        from windlass.errors import ConfirmationNeeded

        if self.flags.yes or self.flags.would:
            return True
        if self.flags.no_input or not self.out.can_ask:
            raise ConfirmationNeeded(doing)
        return False

    @property
    def _context_prefix(self) -> str:
        return f"In the context {self.context.name}: " if self.context else ""

    async def _with_timeout(self, work: Coroutine[Any, Any, T]) -> T:
        if self.flags.timeout is None:
            return await work
        import asyncio

        from windlass.core.durations import duration
        from windlass.errors import DatabaseTimeout, OptionInvalid

        try:
            limit = duration(self.flags.timeout, option="timeout").total_seconds()
        except OptionInvalid:
            work.close()  # else Python warns that it was never awaited
            raise
        try:
            async with asyncio.timeout(limit):
                return await work
        except TimeoutError:
            raise DatabaseTimeout("answer this command", seconds=limit) from None


def actor() -> str | None:
    """The name under which this command's changes are recorded."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user in a container may have no name
        return None


def _resolve_target(flags: Flags, *, current: bool) -> "Context | None":
    """Complete the flags from the context in use; returns that context, if any.

    `current`: also use the selected context, not only one given by name.
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


def _active_context(flags: Flags, *, current: bool) -> "Context | None":
    from windlass.cli.connect import contexts

    # A typed --context is a flag: only other flags win over it.
    typed = flags.typed("context")
    other = flags.typed("url") or flags.typed("db")
    if not typed:
        other = other or bool(flags.url or flags.db or os.environ.get(_DATABASE_VARIABLE))
    if flags.context is not None:
        named = contexts.read().named(flags.context)  # an unknown name is an error in any case
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
            import click

            raise click.UsageError("--all-tenants and --tenant exclude each other")
        return
    flags.tenant = None
