"""What every request passes first: it gets a name, which its answer and every word about it carry."""

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windlass.api.problems import unstorable
from windlass.ids import new_job_id
from windlass.storage.bound import unbound

HEADER = "x-request-id"


class Entrance:
    """Names requests, and refuses those whose address no database could hold."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id = str(new_job_id())
        scope.setdefault("state", {})["request_id"] = id

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = id
            await send(message)

        with unbound():  # the tenant that a request is bound to stays with it
            await (unstorable(Request(scope)) or self._app)(scope, receive, named)
