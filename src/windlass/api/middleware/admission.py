"""Decides whether a request is let in at all, before its route, body or credential is looked at."""

from fastapi import HTTPException, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windlass.api.access.callers import Caller, open_access, ready_engine
from windlass.api.access.credentials import by_credentials, find_principal
from windlass.api.middleware.browser_security import check_loopback, check_write
from windlass.api.middleware.problems import respond
from windlass.api.middleware.rate_limit import rate_limiter_of
from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal
from windlass.errors import CrossSiteRefused, NotAuthenticated, PayloadTooLarge, WindlassError

#: A body may be some times as large as a payload: its text is escaped, and there is more to say.
TIMES = 4
#: Below it lie the dashboard's files whose names change with their content.
ASSETS = "/assets/"
#: Not counted: a load balancer that shares its address with its clients must not have its probes
#: refused on their account, or it takes the server out of service.
_UNCOUNTED = frozenset({"/healthz", "/readyz"})
_MOST_CHARACTERS = 200


class AdmissionMiddleware:
    """Refuses remote requests to an open API, requests beyond a limit, and cross-site writes; a body
    that is too large as soon as that shows."""

    def __init__(self, app: ASGIApp, *, body_bytes: int) -> None:
        self._app = app
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            await _admit(request)
        except WindlassError as error:
            await respond(request, error)(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        """Receive the messages of one request, up to the limit of its body."""
        read = 0

        async def receive_counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._body_bytes:
                # Only this kind of error passes through where a body is read.
                raise HTTPException(413) from PayloadTooLarge(
                    "the request", size=read, limit=self._body_bytes
                )
            return message

        return receive_counted


def is_asset(scope: Scope) -> bool:
    """True if a request asks for a file of the dashboard. That needs no credential and no database."""
    path = path_below_root(scope)
    is_file = path.startswith(ASSETS) or (path.count("/") == 1 and "." in path)
    return is_file and scope["method"] in ("GET", "HEAD")


def path_below_root(scope: Scope) -> str:
    """The path of a request below where the API is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


async def _admit(request: Request) -> None:
    if request.app.state.authenticate is open_access:
        check_loopback(request)
    if is_asset(request.scope):
        return
    if path_below_root(request.scope) not in _UNCOUNTED:
        rate_limiter_of(request).arrive(request)
    try:
        check_write(request)
    except CrossSiteRefused as error:
        await _record_cross_site(request, error)
        raise


async def _record_cross_site(request: Request, error: CrossSiteRefused) -> None:
    """Leave an audit entry if the caller is known, and a log line if not."""
    place = f"{request.method} {path_below_root(request.scope)}"[:_MOST_CHARACTERS]
    principal = await _principal(request)
    if principal is None:
        request.app.state.telemetry.warn(
            "cross-site request refused", request=place, request_id=request.state.request_id
        )
        return
    rate_limiter_of(request).admit(request, principal.actor, None, works=False)
    engine = await ready_engine(request)
    await engine.access.record_refusal(
        principal,
        "requests.cross_site",
        Target("request", place),
        error,
        request_id=request.state.request_id,
    )


async def _principal(request: Request) -> Principal | None:
    """The caller, whatever tenant the request is about; None if it has no valid credential."""
    authenticate = request.app.state.authenticate
    try:
        if authenticate is by_credentials:
            return await find_principal(request)
        caller: Caller = await authenticate(request)
    except NotAuthenticated:
        rate_limiter_of(request).reject(request)
        return None
    except WindlassError:
        return None
    return None if caller.name is None else caller.effective_principal
