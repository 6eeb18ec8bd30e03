"""Limits the size of request bodies before they are read."""

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windlass.errors import PayloadTooLarge

#: A body may be some times as large as a payload: its text is escaped, and there is more to say.
TIMES = 4


class BodyLimitMiddleware:
    """Refuses a body that is too large as soon as that shows."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                # Only this kind of error passes through where a body is read.
                raise HTTPException(413) from PayloadTooLarge(
                    "the request", size=read, limit=self._limit
                )
            return message

        await self._app(scope, counted, send)
