"""One call of the command line: its flags, its settings, its output, its way to the jobs.

What a command may not need is imported where it is used: help and usage errors come at once.
"""

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from windlass.cli.flags import Flags
from windlass.cli.output import Output

if TYPE_CHECKING:
    from windlass.cli.local import Local
    from windlass.settings import Settings

T = TypeVar("T")


class Call:
    def __init__(self, flags: Flags) -> None:
        self.flags = flags

    @cached_property
    def out(self) -> Output:
        return Output(self.flags)

    @cached_property
    def settings(self) -> "Settings":
        """The settings in force, with --db on top."""
        from windlass.settings import Settings

        return Settings.load({"database.url": self.flags.db})

    def ask(
        self, question: "Callable[[Local], Coroutine[Any, Any, T]]", *, limited: bool = True
    ) -> T:
        """Ask the database and close it again; --timeout limits it if `limited`."""
        import asyncio

        from windlass.app import Windlass
        from windlass.cli.local import Local, Unheard

        async def run() -> T:
            app = Windlass(settings=self.settings)
            app.telemetry = Unheard()
            try:
                return await question(Local(app, tenant=self.flags.tenant, actor=actor()))
            finally:
                await app.close()

        return asyncio.run(self._limited(run()) if limited else run())

    def confirm(self, doing: str, question: str) -> None:
        """Return if the person agrees, or has agreed by --yes; never hang where nobody is."""
        import click

        from windlass.errors import ConfirmationNeeded

        if self.flags.yes:
            return
        if self.flags.no_input or not self.out.can_ask:
            raise ConfirmationNeeded(doing)
        click.confirm(question, abort=True, err=True)

    async def _limited(self, work: Coroutine[Any, Any, T]) -> T:
        if self.flags.timeout is None:
            return await work
        import asyncio

        from windlass.core.durations import duration
        from windlass.errors import DatabaseTimeout

        limit = duration(self.flags.timeout, option="timeout").total_seconds()
        try:
            async with asyncio.timeout(limit):
                return await work
        except TimeoutError:
            raise DatabaseTimeout("answer this command", seconds=limit) from None


def actor() -> str | None:
    """Who is said to have done what this command does."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return None
