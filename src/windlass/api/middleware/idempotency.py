"""`Idempotency-Key`: a write that is repeated under its key is answered again and not done again."""

import json
from http import HTTPStatus
from typing import Annotated

from starlette.responses import Response

from windlass.api.access.callers import Caller
from windlass.api.routing import Header, Request
from windlass.engine.access.idempotency import RequestClaim, StoredResponse
from windlass.engine.engine import Engine
from windlass.errors import FieldError, RequestInvalid

_HEADER = "idempotency-key"
#: How a truth value is spelled in a query.
_TRUE = frozenset({"true", "1", "yes", "on", "t", "y", "True", "TRUE"})
Key = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=191,
        description="Repeated within 24 hours, the request is answered as before and not done again.",
    ),
]


class ReplayedResponse(Exception):
    """Not an error: there is an answer already."""

    def __init__(self, answered: StoredResponse) -> None:
        super().__init__()
        self._answered = answered

    def response(self) -> Response:
        return Response(
            self._answered.body,
            self._answered.status,
            {"idempotency-replayed": "true"},
            "application/json" if self._answered.body else None,
        )


async def begin_idempotent(request: Request, caller: Caller, engine: Engine, key: str) -> None:
    """Take the key of a request, or tell that it was answered.

    A dry run changes nothing and takes no key: the same key is good for the write itself.
    """
    if request.query_params.get("dry_run") in _TRUE:
        return
    begun = await engine.answers.begin(
        key,
        tenant=caller.scope.tenant,
        caller=caller.name,
        route=f"{request.method} {request.url.path}",
        request=request.url.query.encode() + b"\n" + await _body(request),
    )
    if isinstance(begun, StoredResponse):
        raise ReplayedResponse(begun)
    request.state.taken_key = engine, begun


def reject_idempotency_key(request: Request) -> None:
    """For a route whose answer has a secret: it is kept nowhere, so it cannot be given again."""
    if _HEADER in request.headers:
        raise RequestInvalid(
            [FieldError(f"/{_HEADER}", "this answer has a secret and is not kept")]
        )


async def store_response(request: Request, response: Response) -> None:
    """Keep what was answered under the key that the request took, if something was done."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:  # a job that a limit rejects
        await release_key(request)
        return
    engine, claim = _taken_key(request)
    body = bytes(response.body).decode() if response.body else None
    await engine.answers.keep(claim, response.status_code, body)


async def release_key(request: Request) -> None:
    """A problem is not kept: the same may be asked again, under the same key."""
    engine, claim = _taken_key(request)
    await engine.answers.release(claim)


async def _body(request: Request) -> bytes:
    """The body, however its JSON is spaced and its keys are ordered."""
    sent = getattr(request.state, "sent", None)
    return await request.body() if sent is None else json.dumps(sent, sort_keys=True).encode()


def _taken_key(request: Request) -> tuple[Engine, RequestClaim]:
    taken: tuple[Engine, RequestClaim] = request.state.taken_key
    return taken
