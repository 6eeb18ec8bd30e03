"""Connections that are limited in number, and that close when a request arrives too slowly.

uvicorn has neither: clients that open connections and send nothing, or a byte now and then, would
hold them for ever.
"""

import asyncio
import resource
from typing import TYPE_CHECKING, Any, Literal

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from windlass.api.middleware.browser_security import ALWAYS, DEFAULTS
from windlass.engine.access.connection_limits import ConnectionLimits

if TYPE_CHECKING:
    from windlass.settings.tree import ServerSettings
    from windlass.telemetry import Telemetry

#: Files that the process needs besides connections: the database, the log, modules.
_OTHER_FILES = 128


class GuardedConfig(uvicorn.Config):
    """The configuration of a server whose connections keep the limits of the settings."""

    def __init__(self, app: FastAPI, **about: Any) -> None:
        super().__init__(app, http=GuardedConnection, ws="none", **about)
        self.settings: ServerSettings = app.state.windlass.settings.server
        self.telemetry: Telemetry = app.state.telemetry
        self.connection_limits = ConnectionLimits(
            total=_connection_limit(self.settings.max_connections),
            per_address=self.settings.max_connections_per_address,
            unlimited=app.state.proxies.trusts,
        )


class GuardedConnection(H11Protocol):
    """An HTTP connection with deadlines for the head and the body of each request.

    A response, such as a stream of live updates, may take as long as it likes.
    """

    config: GuardedConfig
    _address: str | None = None
    _awaited: Literal["head", "body"] | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]  # as uvicorn declares it
        self, transport: asyncio.Transport
    ) -> None:
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        refusal = self.config.connection_limits.take(address)
        if refusal is not None:
            self.config.telemetry.trouble(
                "accepting a connection", ConnectionRefusedError(refusal), address=address
            )
            transport.write(_response("503 Service Unavailable", "Too many connections."))
            transport.close()
            return
        self._address = address
        super().connection_made(transport)
        self._await("head")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is not None:
            self.config.connection_limits.give_back(self._address)
            self._await(None)
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._address is None:
            return
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.IDLE:
            self._await("head")
        else:
            self._await("body" if state is h11.SEND_BODY else None)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # The head of the next request may have begun to arrive. An idle connection has its own timer.
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await("head")

    def send_400_response(self, msg: str) -> None:
        self._fail("400 Bad Request", msg)

    def _await(self, part: Literal["head", "body"] | None) -> None:
        """Expect the rest of a part of a request within its time."""
        if part == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited, self._deadline = part, None
        if part is not None:
            settings = self.config.settings
            seconds = (
                settings.header_timeout_seconds if part == "head" else settings.body_timeout_seconds
            )
            self._deadline = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        part, self._awaited = self._awaited, None
        if self.transport.is_closing():
            return
        if part == "body" and self.flow.read_paused:
            self._await(part)  # the server is slow, not the client
            return
        self._fail("408 Request Timeout", f"The {part} of the request took too long.")

    def _fail(self, status: str, message: str) -> None:
        """Close the connection, and say why unless a response is already on its way."""
        # None before the first request, which uvicorn's types do not say.
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_response(status, message))
        if cycle is not None:
            cycle.disconnected = True  # what the application still sends goes nowhere
        self.transport.close()


def _connection_limit(wanted: int) -> int:
    """As many connections as are wanted, or as the process may open files for."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(files - _OTHER_FILES, files // 2))


def _response(status: str, message: str) -> bytes:
    """A response to a connection that closes, before any request was understood."""
    headers = {
        "content-type": "text/plain; charset=utf-8",
        "content-length": str(len(message)),
        "connection": "close",
        **ALWAYS,
        **DEFAULTS,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n{message}".encode()
