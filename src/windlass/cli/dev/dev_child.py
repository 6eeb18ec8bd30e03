"""The process of `windlass dev` that runs the jobs: import, prepare, print the greeting, work."""

import asyncio
import json
import logging
import os
import socket
import sys
import textwrap
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from windlass.api.monitoring.development import Development
from windlass.app.windlass import Windlass
from windlass.cli.access.first_sign_in import sign_in_url
from windlass.cli.definitions.missing_definitions import mark_missing
from windlass.cli.dev.banner import banner, words
from windlass.cli.dev.job_lines import JobLines
from windlass.cli.dev.reloader import IMPORT_FAILED, SupervisorLink
from windlass.cli.framework.error_report import report
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.run.listen_sockets import address
from windlass.cli.run.load_modules import is_file, load_apps
from windlass.cli.run.log_output import VisibleFormatter
from windlass.cli.run.run_workers import WorkerFlags, WorkerGroup, work
from windlass.cli.run.signals import on_stop_signals
from windlass.engine.redaction import create_redactor
from windlass.engine.startup_wait import wait_until_ready
from windlass.errors import (
    DatabaseTimeout,
    DatabaseUnreachable,
    MigrationChanged,
    ModuleNotLoaded,
    RowSecurityUnavailable,
    SchemaOutdated,
    SchemaTooNew,
    UnsupportedDatabase,
    WindlassError,
)
from windlass.tasks import run

_FILES_SECONDS = 1.0
_MISSING_SECONDS = 2.0
#: Characters of a traceback that the API shows.
_MOST_TRACEBACK = 20_000
#: Errors that no change to the code fixes: do not wait for the next save.
_NOT_THE_CODES = (
    DatabaseUnreachable,
    DatabaseTimeout,
    UnsupportedDatabase,
    RowSecurityUnavailable,
    SchemaOutdated,
    SchemaTooNew,
    MigrationChanged,
)


@dataclass(frozen=True, slots=True)
class DevChild:
    call: Invocation
    modules: Sequence[str]
    flags: WorkerFlags
    listening: socket.socket
    no_auth: bool = False
    keys: str = ""
    open: bool = False
    _opening: set[asyncio.Task[None]] = field(default_factory=set)
    _development: Development = field(default_factory=Development)

    def run(self, link: SupervisorLink | None, first: bool) -> int:
        """Run the jobs of the modules until stopped; returns the exit code."""
        if logging.lastResort is not None:
            # Print libraries' log records unchanged, unless the modules configure logging.
            logging.lastResort.setFormatter(VisibleFormatter())
        try:
            return run(self._work(self._apps(), link, first))
        except Exception as error:  # noqa: BLE001  the edge: told to a person
            cause = error.__cause__ if isinstance(error, ModuleNotLoaded) else error
            if cause is not None and not isinstance(cause, WindlassError):
                for line in _own_frames(cause):
                    self.call.out.say(line)
            if link is not None and not isinstance(error, _NOT_THE_CODES):
                files = {*imported_files(), *self._module_files(), *_error_files(cause)}
                shown = _error_json(error, cause)
                link.report("failed", files, error=shown)
                code = report(error, self.call.flags)
                self._development.error = json.loads(shown)
                return Exit.OK if link.alone and run(self._serve_error(link)) else code
            return report(error, self.call.flags)

    def _apps(self) -> list[Windlass]:
        apps = load_apps(self.modules)
        for app in apps:
            if self.call.flags.db:
                app.use_database(self.call.flags.db)
            app.telemetry = JobLines(
                self.call.out.style,
                redactor=create_redactor(app.settings),
                traces=self.call.flags.verbose,
            )
        return apps

    async def _work(
        self, apps: Sequence[Windlass], link: SupervisorLink | None, first: bool
    ) -> int:
        for app in apps:
            await _create_schema(app)
        sign_in = await self._sign_in(apps[0]) if first and not self.no_auth else ""
        group = WorkerGroup(self.call.out.say, lambda: self._ready(apps, link, first, sign_in))
        async with self._serve(apps[0], group):
            return await self._run_workers(apps, group, link)

    async def _serve_error(self, link: SupervisorLink) -> bool:
        """Serve the dashboard with the error of the import until the next save: on the database of
        the settings, because the app that may name another cannot be imported. False if that
        database cannot be used."""
        stopped = asyncio.Event()
        group = WorkerGroup(self.call.out.say, lambda: None)
        try:
            app = Windlass(settings=self.call.settings)
            await _create_schema(app)
            await app.ready()
            sign_in = "" if self.no_auth else await self._sign_in(app)
        except WindlassError as error:
            self.call.out.say(f"The dashboard cannot show this: {error}")
            return False
        loop = asyncio.get_running_loop()
        try:
            async with self._serve(app, group):
                group.at_stop = partial(_call_all, (group.at_stop, stopped.set))
                with on_stop_signals(group.stop):
                    loop.add_reader(link.fileno(), self._follow_orders, link, group, app)
                    shown = sign_in or f"{address(self.listening)}/"
                    self.call.out.say(f"The dashboard shows this too: {shown}")
                    link.report("waiting", ())
                    await stopped.wait()
        finally:
            loop.remove_reader(link.fileno())
            await app.close()
            group.done()
        return True

    @asynccontextmanager
    async def _serve(self, app: Windlass, group: WorkerGroup) -> AsyncIterator[None]:
        """Serve the API of an app; after a stop it accepts no more requests."""
        # A heavy import that no job needs.
        from windlass.api.access.callers import open_access
        from windlass.api.access.credentials import by_credentials
        from windlass.api.app import create_api
        from windlass.api.server import Server

        api = create_api(app, authenticate=open_access if self.no_auth else by_credentials)
        api.state.development = self._development
        server = Server(api, self.listening.dup())  # a server closes its socket at its end
        group.at_stop = server.end
        serving = asyncio.create_task(server.serve_until_stopped())
        try:
            yield
        finally:
            server.end()
            await serving

    async def _run_workers(
        self, apps: Sequence[Windlass], group: WorkerGroup, link: SupervisorLink | None
    ) -> int:
        for app in apps:
            await wait_until_ready(app.ready, app.telemetry)
        # Before anything is scheduled, so that no job is created that no worker can run.
        done = await self._mark_missing(apps)
        marking = None if done else asyncio.create_task(self._mark_rest(apps))
        try:
            return await self._run_linked(apps, group, link)
        finally:
            if marking is not None:
                marking.cancel()

    async def _mark_missing(self, apps: Sequence[Windlass]) -> bool:
        """Mark what the modules no longer declare. Returns True if nothing is left to mark."""
        try:
            marked, skipped = await mark_missing(apps)
        except WindlassError as error:
            apps[0].telemetry.trouble("looking for definitions missing from code", error)
            return False
        if marked:
            names = ", ".join(sorted(marked))
            self.call.out.say(f"No longer in the code, and not scheduled any more: {names}.")
        return not skipped

    async def _mark_rest(self, apps: Sequence[Windlass]) -> None:
        """Mark what another worker still ran, such as the process before the last save, once that
        worker has ended."""
        while True:
            await asyncio.sleep(_MISSING_SECONDS)
            if await self._mark_missing(apps):
                return

    async def _run_linked(
        self, apps: Sequence[Windlass], group: WorkerGroup, link: SupervisorLink | None
    ) -> int:
        if link is None:
            return await work(apps, self.flags, group)
        loop = asyncio.get_running_loop()
        loop.add_reader(link.fileno(), self._follow_orders, link, group, apps[0])
        telling = asyncio.create_task(_report_imports(link))
        try:
            return await work(apps, self.flags, group)
        finally:
            telling.cancel()
            loop.remove_reader(link.fileno())

    def _ready(
        self, apps: Sequence[Windlass], link: SupervisorLink | None, first: bool, sign_in: str
    ) -> None:
        if link is not None:
            example = next((words(one) for app in apps for one in app.handlers.values()), "")
            link.report("ready", imported_files(), database=apps[0].url, example=example)
        if first:
            self._print_banner(apps, sign_in, reloads=link is not None)
        if first and self.open:
            self._open_soon(apps[0])

    def _print_banner(self, apps: Sequence[Windlass], sign_in: str, *, reloads: bool) -> None:
        style, url = self.call.out.style, address(self.listening)
        lines = banner(
            apps, self.modules, style, url, sign_in=sign_in, keys=self.keys, reloads=reloads
        )
        for line in lines:
            self.call.out.say(line)

    def _follow_orders(self, link: SupervisorLink, group: WorkerGroup, app: Windlass) -> None:
        orders = link.orders()
        if orders is None:
            asyncio.get_running_loop().remove_reader(link.fileno())
            group.stop()
            return
        for order in orders:
            if order == "open":
                self._open_soon(app)
            elif order.startswith(IMPORT_FAILED):
                self._development.error = json.loads(order.removeprefix(IMPORT_FAILED))

    def _open_soon(self, app: Windlass) -> None:
        task = asyncio.get_running_loop().create_task(self._open(app))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, app: Windlass) -> None:
        """Open the dashboard, signed in. Each call creates a new link: a link works once."""
        try:
            url = address(self.listening) if self.no_auth else await self._sign_in(app)
        except WindlassError as error:
            report(error, self.call.flags)
            return
        if not (url.startswith("http") and await _browse(url)):
            self.call.out.say(f"No browser could be started. Open it yourself: {url}")

    async def _sign_in(self, app: Windlass) -> str:
        return await sign_in_url(await app.ready(), address(self.listening))

    def _module_files(self) -> Iterator[str]:
        for name in self.modules:
            if is_file(name):
                yield os.path.abspath(name)
            else:
                yield os.path.abspath(name.replace(".", "/") + ".py")


async def _create_schema(app: Windlass) -> None:
    # Only an empty database gets the schema. An older one may be shared: `windlass db migrate`.
    schema = app.engine.schema
    if not (await schema.status()).applied:
        await schema.migrate()


async def _report_imports(link: SupervisorLink) -> None:
    """Report imported files to the supervisor: handlers import more while they run."""
    reported = imported_files()
    while True:
        await asyncio.sleep(_FILES_SECONDS)
        if more := imported_files() - reported:
            reported |= more
            link.report("ready", more)


def _call_all(calls: Iterable[Callable[[], object]]) -> None:
    for call in calls:
        call()


def imported_files() -> set[str]:
    """The imported files of the program itself, without installed packages and the standard
    library."""
    package = str(Path(__file__).parents[2])
    files = {os.path.abspath("windlass.toml")}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and not _installed(os.path.abspath(file), package):
            files.add(os.path.abspath(file))
    return files


def _installed(file: str, package: str) -> bool:
    elsewhere = (package, sys.prefix, sys.base_prefix)
    return "site-packages" in file or any(
        file.startswith(f"{place}{os.sep}") for place in elsewhere
    )


def _error_files(error: BaseException | None) -> Iterator[str]:
    """The files of an import error's traceback: the failing file may not count as imported."""
    if isinstance(error, SyntaxError) and error.filename:
        yield os.path.abspath(error.filename)
    for frame in traceback.extract_tb(error.__traceback__ if error else None):
        if os.path.isfile(frame.filename):
            yield os.path.abspath(frame.filename)


def _error_json(error: Exception, cause: BaseException | None) -> str:
    """The error of an import as JSON: its message, and the traceback of the author's code."""
    lines = [] if cause is None or isinstance(cause, WindlassError) else _own_frames(cause)
    text = textwrap.dedent("\n".join(lines))[-_MOST_TRACEBACK:]
    return json.dumps({"message": str(error), "traceback": text})


def _own_frames(error: BaseException) -> Iterator[str]:
    """The part of a traceback from the author's code on."""
    package = str(Path(__file__).parents[2])
    frames = error.__traceback__
    while frames is not None and (
        frames.tb_frame.f_code.co_filename.startswith((package, "<frozen importlib"))
        or "importlib" in frames.tb_frame.f_code.co_filename
    ):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    yield from (f"  {line}" for line in text.splitlines())


# In a separate process: some browsers block until closed, and some print messages.
_OPEN_BROWSER = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


async def _browse(url: str) -> bool:
    """Open an address in a browser; BROWSER may name the program. False if none could be
    started."""
    devnull = asyncio.subprocess.DEVNULL
    opening = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OPEN_BROWSER, url, stdin=devnull, stdout=devnull, stderr=devnull
    )
    return await opening.wait() == 0
