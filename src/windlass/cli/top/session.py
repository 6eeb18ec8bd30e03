"""A session of `windlass top`: reads every second, draws, and handles keys."""

import asyncio
import sys
from dataclasses import replace

from rich.console import Console, RenderableType
from rich.live import Live

from windlass import clock
from windlass.cli.connect.api_client import Client, path
from windlass.cli.top.drawing import overview, rows_for_jobs, whole_page
from windlass.cli.top.keys import pressed
from windlass.cli.top.pages import help_page, job_page, log_page
from windlass.cli.top.readings import JobDetail, TopData, TopReader
from windlass.cli.top.screen import KeyAction, Screen
from windlass.errors import FilterInvalid, WindlassError

_SECONDS = 1.0


class TopSession:
    def __init__(self, api: Client, console: Console, place: str, screen: Screen) -> None:
        self._api = api
        self._console = console
        self._place = place
        self._screen = screen
        self._reader = TopReader(api)
        self._reading: TopData | None = None
        self._opened: JobDetail | None = None
        self._read_with = ""
        #: Error of the last reading, until one succeeds.
        self._trouble = ""

    async def run(self) -> None:
        """Run until the person quits. A failure of the first reading is an error, later ones are a
        note."""
        self._reading = await self._reader.read(self._screen.where, limit=self._rows)
        self._read_with = self._screen.where
        with (
            pressed(sys.stdin.fileno()) as keys,
            Live(self._draw_page(), console=self._console, screen=True, auto_refresh=False) as live,
        ):
            next_look = clock.monotonic() + _SECONDS
            while True:
                live.update(self._draw_page(), refresh=True)
                try:
                    async with asyncio.timeout(max(0.0, next_look - clock.monotonic())):
                        key = await keys.get()
                except TimeoutError:
                    if not self._screen.paused:
                        await self._look()
                    next_look = clock.monotonic() + _SECONDS
                    continue
                if not await self._press(key):
                    return

    @property
    def _rows(self) -> int:
        return rows_for_jobs(self._reading, self._console.size)

    async def _press(self, key: str) -> bool:
        """Handle a key; False to quit."""
        ids = [job["id"] for job in self._reading.jobs] if self._reading else []
        self._screen, action = self._screen.pressed(key, ids)
        match action:
            case None:
                pass
            case KeyAction("quit"):
                return False
            case KeyAction("look"):
                await self._look()
            case KeyAction(verb, job):
                await self._change(verb, job)
        return True

    async def _look(self) -> None:
        screen = self._screen
        self._trouble = ""
        try:
            if screen.page in ("job", "logs"):
                self._opened = await self._reader.open(screen.job)
            else:
                self._reading = await self._reader.read(screen.where, limit=self._rows)
                self._read_with = screen.where
        except FilterInvalid as error:
            # Keep showing the last data.
            self._screen = replace(screen, where=self._read_with, note=_error_text(error))
        except WindlassError as error:
            self._trouble = _error_text(error)

    async def _change(self, verb: str, job: str) -> None:
        try:
            await self._api.post(path("jobs", job, verb))
        except WindlassError as error:
            self._screen = replace(self._screen, note=_error_text(error))
            return
        await self._look()
        done = {"retry": "is queued again", "cancel": "is canceled, or asked to stop"}[verb]
        self._screen = replace(self._screen, note=f"{job[-8:]} {done}.")

    def _draw_page(self) -> RenderableType:
        assert self._reading is not None
        screen = replace(self._screen, note=self._screen.note or self._trouble)
        size = self._console.size
        if screen.page == "help":
            return help_page(screen, size)
        if screen.page in ("queues", "workers"):
            return whole_page(self._reading, screen, self._place, size)
        if self._opened is None or self._opened.job["id"] != screen.job:
            return overview(self._reading, screen, self._place, size.width, size.height)
        page = log_page if screen.page == "logs" else job_page
        return page(self._opened, screen, size)


def _error_text(error: WindlassError) -> str:
    return " ".join(part for part in (error.message, error.reason) if part)
