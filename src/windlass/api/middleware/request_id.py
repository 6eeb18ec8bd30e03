"""The outermost middleware: request id, client address behind trusted proxies, response headers."""

import ipaddress
import re
from collections.abc import Iterator, Sequence

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windlass.api.middleware.browser_security import (
    ALWAYS,
    DEFAULTS,
    IMMUTABLE,
    parse_address,
)
from windlass.api.middleware.problems import problem
from windlass.errors import FieldError, RequestInvalid
from windlass.ids import new_job_id
from windlass.tasks import all_tenants

HEADER = "x-request-id"
_SCHEMES = frozenset({"http", "https"})
_PREFIX = re.compile(r"(/[\w.~-]+)+", re.ASCII)


class RequestIdMiddleware:
    """Assigns the request id, which the response and every log line carry.

    It stands around everything else, the handler of unexpected errors included, so that no response
    leaves without its headers.
    """

    def __init__(self, app: ASGIApp, *, proxies: "TrustedProxies") -> None:
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
                immutable = headers.get("cache-control") == IMMUTABLE
                headers.update(ALWAYS)
                if immutable:
                    headers["cache-control"] = IMMUTABLE
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        with all_tenants():  # the tenant that a request is bound to stays with it
            app = _address_error(Request(scope)) or self._app
            await app(scope, receive, send_with_headers)


class TrustedProxies:
    """The networks whose forwarding headers are believed: those of `server.trusted_proxies`.

    `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Prefix` are headers that anybody can
    send, so they count only on a connection that comes from one of these.
    """

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(each) for each in networks]

    def trusts(self, address: str) -> bool:
        known = parse_address(address)
        return known is not None and any(known in network for network in self._networks)

    def resolve(self, scope: Scope) -> Scope:
        """The scope of a request with the client, the scheme and the prefix of paths that its
        proxies report.

        The client is the rightmost address that is no trusted proxy. What stands further left was
        sent by the client itself.
        """
        peer = scope.get("client")
        if peer is None or not self.trusts(peer[0]):
            return scope
        resolved = dict(scope)
        if (client := self._client(scope)) is not None:
            resolved["client"] = (client, 0)
        if (scheme := next(_values(scope, b"x-forwarded-proto"), "").lower()) in _SCHEMES:
            resolved["scheme"] = scheme
        prefix = next(_values(scope, b"x-forwarded-prefix"), "").rstrip("/")
        root = scope.get("root_path", "")
        if _PREFIX.fullmatch(prefix) and not root.startswith(prefix):
            # The proxy took it off; a scope's path begins with its prefix.
            resolved["root_path"], resolved["path"] = prefix + root, prefix + scope["path"]
        return resolved

    def _client(self, scope: Scope) -> str | None:
        client = None
        for text in _values(scope, b"x-forwarded-for"):
            address = parse_address(text)
            if address is None:
                break
            client = str(address)
            if not self.trusts(client):
                break
        return client


def _address_error(request: Request) -> Response | None:
    """The refusal of an address with a character that no database can compare with anything."""
    if "\0" not in request.scope["path"] and b"%00" not in request.scope["query_string"]:
        return None
    return problem(request, RequestInvalid([FieldError("", "the address has a NUL character")]))


def _values(scope: Scope, name: bytes) -> Iterator[str]:
    """The values of a header that is a list, the last one first."""
    for key, value in reversed(scope["headers"]):
        if key == name:
            for each in reversed(value.decode("latin-1").split(",")):
                yield each.strip()
