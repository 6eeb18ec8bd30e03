"""Runs the API in this process's loop, and ends it in good order: jobs first, then HTTP."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from windlass.api.middleware.connection_limits import GuardedConfig

#: How long requests under way may take after the server was told to end.
_GRACE_SECONDS = 5


class Server(uvicorn.Server):
    """A server whose process minds the signals itself."""

    def __init__(self, app: FastAPI, listening: socket.socket) -> None:
        self._listening = listening
        self._app = app
        super().__init__(
            GuardedConfig(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                # It would believe everybody on loopback; the API has its own list of proxies.
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    async def serve_until_stopped(self) -> None:
        """Serve until `end` is called."""
        try:
            await self.serve(sockets=[self._listening])
        finally:
            self.end()
            await self._app.state.feed.ended()

    def drain(self) -> None:
        """Answer on, while running jobs finish; `/readyz` says that no new work should come here."""
        self._app.state.draining = True

    def end(self) -> None:
        """Finish requests under way, and end live updates at once: they never end by themselves."""
        self.drain()
        self.should_exit = True
        self._app.state.feed.end()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
