"""Listening to live updates over a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
from fastapi import FastAPI

from windlass.api.server import Server
from windlass.cli.run.listen_sockets import address, listen


class Heard(NamedTuple):
    """One event; a comment has no name."""

    event: str
    id: str | None
    data: Any


class Listener:
    """Reads one stream, event by event."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()
        self.last_id: str | None = None

    async def next(self, *, comments: bool = False) -> Heard:
        """The next event, and with `comments` also those; bounded in time."""
        async with asyncio.timeout(30):
            while True:
                message = await self._read()
                if message.data is not None or (comments and message.event == ""):
                    return message

    async def changes(self, topic: str) -> list[dict]:
        """The data of the next event for a topic."""
        while True:
            message = await self.next()
            assert message.event == "changes", message
            if found := [each for each in message.data["changes"] if each["topic"] == topic]:
                return found

    async def over(self) -> bool:
        """True once the server has ended the stream."""
        async with asyncio.timeout(30):
            async for _ in self._lines:
                pass
        return True

    async def _read(self) -> Heard:
        event, id, data = "message", None, None
        async for line in self._lines:
            name, _, value = line.partition(": ")
            match name:
                case "":
                    if line.startswith(": "):
                        event = ""
                        continue
                    self.last_id = id or self.last_id
                    return Heard(event, id, data)
                case "event":
                    event = value
                case "id":
                    id = value
                case "data":
                    data = json.loads(value)
        raise EOFError("the stream is over")


class Served:
    """An API that is served on a real socket."""

    def __init__(self, app: FastAPI, server: Server, client: httpx2.AsyncClient) -> None:
        self.app = app
        self.server = server
        self.client = client

    @asynccontextmanager
    async def listen(
        self,
        topics: str,
        *,
        last_id: str | None = None,
        who: str | None = None,
        cookie: str | None = None,
        **query: str,
    ) -> AsyncIterator[Listener]:
        headers = {"last-event-id": last_id} if last_id else {}
        if cookie:
            headers["cookie"] = cookie
        if who:
            headers["authorization"] = who
        streamed = self.client.stream(
            "GET", "/stream", params={"topics": topics, **query}, headers=headers
        )
        async with streamed as response:
            yield Listener(response)


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[Served]:
    """Serve an API for as long as it takes."""
    socket = listen("127.0.0.1", 0)
    server = Server(app, socket)
    running = asyncio.create_task(server.serve_until_stopped())
    limits = httpx2.Limits(max_connections=None)
    try:
        async with httpx2.AsyncClient(
            base_url=f"{address(socket)}/api/v1", limits=limits, timeout=30
        ) as client:
            yield Served(app, server, client)
    finally:
        server.end()
        await running
