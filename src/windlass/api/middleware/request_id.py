"""The outermost middleware: request id, client address, and the headers of every response."""

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windlass.api.middleware.browser_security import ALWAYS, DEFAULTS
from windlass.api.middleware.problems import address_error
from windlass.api.middleware.proxies import TrustedProxies
from windlass.ids import new_job_id
from windlass.storage.connection.tenant_binding import all_tenants

HEADER = "x-request-id"


class RequestIdMiddleware:
    """Assigns the request id, which the response and every log line carry.

    It stands around everything else, the handler of unexpected errors included, so that no response
    leaves without its headers.
    """

    def __init__(self, app: ASGIApp, *, proxies: TrustedProxies) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id = str(new_job_id())
        scope.setdefault("state", {})["request_id"] = id
        scope = self._proxies.resolve(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[HEADER] = id
                headers.update(ALWAYS)
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        with all_tenants():  # the tenant that a request is bound to stays with it
            app = address_error(Request(scope)) or self._app
            await app(scope, receive, send_with_headers)
