"""A real server in a thread of this process."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from windlass import Settings, Windlass
from windlass.api.access.callers import Authenticate, open_access
from windlass.api.app import create_api
from windlass.api.live.intervals import StreamIntervals
from windlass.api.server import Server
from windlass.cli.run.listen_sockets import address, listen


@contextmanager
def serving(
    url: str,
    declare: Callable[[Windlass], object] = lambda wl: None,
    *,
    settings: Settings | None = None,
    authenticate: Authenticate = open_access,
    pace: StreamIntervals | None = None,
) -> Iterator[str]:
    """The address of an API over the database behind `url`, while the block lasts."""
    wl = Windlass(url, settings=settings or Settings())
    declare(wl)
    listening = listen("127.0.0.1", 0)
    server = Server(create_api(wl, authenticate=authenticate, pace=pace), listening)

    async def run() -> None:
        try:
            await server.serve_until_stopped()
        finally:
            await wl.close()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        yield address(listening)
    finally:
        server.end()
        thread.join(30)
