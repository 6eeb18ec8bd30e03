"""Runs the API in this process's loop, and ends it in good order: jobs first, then HTTP."""

import contextlib
import ipaddress
import socket
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from windlass.errors import OptionInvalid

#: How long requests under way may take after the server was told to end.
_GRACE_SECONDS = 5


class Server(uvicorn.Server):
    """A server whose process minds the signals itself."""

    def __init__(self, app: FastAPI, *, host: str, port: int) -> None:
        self._app = app
        self.socket = _listening(host, port)
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    @property
    def address(self) -> str:
        host, port = self.socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def run_until_told(self) -> None:
        """Serve until `end` is called."""
        await self.serve(sockets=[self.socket])

    def end(self) -> None:
        """Finish requests under way, and end live updates at once: they never end by themselves."""
        self.should_exit = True
        self._app.state.feed.end()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def check_open(host: str) -> None:
    """Refuse to listen to the world without knowing who asks."""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    if host != "localhost":
        raise OptionInvalid(
            "host", host, allowed="127.0.0.1, ::1 or localhost without authentication"
        )


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise OptionInvalid("port", port, allowed=f"one that is free: {error.strerror}") from None
    listening.listen(1024)
    return listening
