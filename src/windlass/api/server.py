"""Runs the API server in this process's loop; shutdown ends jobs first, then HTTP."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from windlass.api.middleware.connection_limits import GuardedConfig

#: How long running requests may take after `end`.
_GRACE_SECONDS = 5


class Server(uvicorn.Server):
    """A uvicorn server that leaves signal handling to its process."""

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
                # uvicorn would trust everything on loopback; the API has its own list of proxies.
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
        """Keep serving while running jobs finish; `/readyz` reports that the server is draining."""
        self._app.state.draining = True

    def end(self) -> None:
        """Finish running requests, and end live updates, which would never end by themselves."""
        self.drain()
        self.should_exit = True
        self._app.state.feed.end()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
