"""Routes over HTTP, by FastAPI: each refuses callers without its right, and answers errors safely."""

import inspect
import typing
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cache, wraps
from json import JSONDecodeError
from typing import Annotated, Any

import fastapi
from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from windlass.api import routing
from windlass.api.access.callers import rate_limited_caller, require_right
from windlass.api.middleware import audit, idempotency, problems
from windlass.api.middleware.query_parameters import check_query
from windlass.api.routing import (
    AROUND_PAYLOAD,
    NO_RIGHT,
    Endpoint,
    IdempotencyPolicy,
    Route,
    marker_of,
    resolve,
    routes_of,
)
from windlass.core.payloads.json_text import DEEPEST, read_json
from windlass.errors import (
    FieldError,
    PayloadUnstorable,
    RequestInvalid,
    ServerFailed,
    WindlassError,
)
from windlass.errors.wording import printable_json

Handler = Callable[[fastapi.Request], Coroutine[Any, Any, Response]]
_PROBLEM = {
    "description": "A problem",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
#: What every route may answer instead.
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}

#: Checked after the right: a caller without it must not learn what was answered to others.
_KEYS: Mapping[IdempotencyPolicy, Sequence[routing.Depends]] = {
    "kept": [routing.Depends(idempotency.begin_idempotent)],
    "refused": [routing.Depends(idempotency.reject_idempotency_key)],
    "own": [],
}
#: Marker -> what FastAPI calls the same.
_PARAMETERS: Mapping[type, Callable[..., Any]] = {
    routing.Query: fastapi.Query,
    routing.Path: fastapi.Path,
    routing.Header: fastapi.Header,
}


class JsonRequest(fastapi.Request):
    """A request whose body is read by the rules for all JSON from outside."""

    def __init__(self, request: fastapi.Request, *, any_text: bool) -> None:
        super().__init__(request.scope, request.receive)
        self._any_text = any_text

    async def json(self) -> Any:
        try:
            self.state.sent = read_json(
                await self.body(),
                what="the request",
                deepest=DEEPEST + AROUND_PAYLOAD,
                any_text=self._any_text,
            )
        except PayloadUnstorable as error:
            if isinstance(wrong := error.__context__, JSONDecodeError):
                where = f"line {wrong.lineno}, column {wrong.colno}"
                found = FieldError(
                    "", f"not JSON: {wrong.msg[:1].lower()}{wrong.msg[1:]} at {where}"
                )
                # Only this kind of error passes through where a body is read.
                raise HTTPException(422) from RequestInvalid([found])
            raise
        return self.state.sent


async def _check_query(request: fastapi.Request) -> None:
    if request.scope["query_string"]:
        check_query(request)


class SafeRoute(APIRoute):
    """Reads JSON strictly, and answers an unforeseen error with an id, not with internals."""

    #: Whether bodies may have text that no database stores; it is replaced then.
    any_text = False

    def __init__(self, path: str, endpoint: Endpoint, **about: Any) -> None:
        dependencies = [*(about.get("dependencies") or ())]
        if about.get("include_in_schema", True):  # pages may be reached by links with more in them
            # The last one: a caller without the right is told that, not what the route takes.
            dependencies.append(fastapi.Depends(_check_query))
            about["operation_id"] = about.get("operation_id") or _operation_id(endpoint, about)
        about["dependencies"] = dependencies
        super().__init__(path, _with_fastapi_signature(endpoint), **about)

    def get_route_handler(self) -> Handler:
        handle = self.handler()

        async def handled(request: fastapi.Request) -> Response:
            try:
                return await handle(JsonRequest(request, any_text=self.any_text))
            except (WindlassError, HTTPException, RequestValidationError):
                raise
            except Exception as error:  # noqa: BLE001  the log has it, the response must not
                problems.log_unexpected_error(request, error)
                raise ServerFailed from None

        return handled

    def handler(self) -> Handler:
        """The handler of a request, which may raise anything."""
        return super().get_route_handler()


class _NounRoute(SafeRoute):
    """Responds only once a change is in the audit, and its response stored for repeated requests."""

    def handler(self) -> Handler:
        handle = super().handler()

        async def handled(request: fastapi.Request) -> Response:
            try:
                response = await handle(request)
            except idempotency.ReplayedResponse as replayed:
                return replayed.response()
            except Exception as error:
                await idempotency.release_key(request)
                await audit.record_refusal(request, error)
                raise
            if pending := getattr(request.state, "pending_audit", None):
                await audit.end(request, response, pending)
            await idempotency.store_response(request, response)
            return response

        return handled


class _AnyTextRoute(_NounRoute):
    any_text = True


class _JsonTextResponse(JSONResponse):
    """A response whose content is JSON text already."""

    def render(self, content: str | None) -> bytes:
        return b"null" if content is None else content.encode()


@cache
def fastapi_routes(noun: str) -> Sequence[BaseRoute]:
    """The routes of a noun, for FastAPI. Made once: that takes a while, and all the APIs of a
    process share them. Add them to an API; including them would copy them."""
    router = APIRouter()
    for route in routes_of(noun):
        _add(router, route)
    return router.routes


def asks_for_caller(route: APIRoute) -> bool:
    """True for a route that needs to know its caller."""

    def within(dependant: Dependant) -> bool:
        call = getattr(dependant.call, "__wrapped__", None)
        return call is rate_limited_caller or any(map(within, dependant.dependencies))

    return within(route.dependant)


def _add(router: APIRouter, route: Route) -> None:
    about = dict(route.about)
    shape = route.shape and route.shape.model()
    shapes = {} if shape is None else {each: {"model": shape} for each in _statuses(route)}
    checks: list[routing.Depends] = []
    if route.right != NO_RIGHT:
        right = routing.Depends(require_right(route.right, audits=route.audits))
        checks = [right, *_KEYS[route.keys]]
    kind: type[APIRoute] = _AnyTextRoute if route.any_text else _NounRoute
    router.add_api_route(
        route.path,
        _render_json(route.endpoint),
        methods=[route.method],
        status_code=route.status_code,
        tags=list(route.tags),
        dependencies=[as_dependency(each) for each in checks],
        openapi_extra=route.openapi_extra,
        response_model=None,
        response_class=about.pop("response_class", _JsonTextResponse),
        responses=PROBLEMS | about.pop("answers", {}) | shapes,
        route_class_override=SafeRoute if route.right == NO_RIGHT else kind,
        **about,
    )


def _statuses(route: Route) -> set[int]:
    return {route.status_code, *route.also}


def _operation_id(endpoint: Endpoint, about: Mapping[str, Any]) -> str:
    """The name of a route in generated clients: its noun and its verb, such as `jobs.list`."""
    [noun, *_] = about["tags"]
    verb = endpoint.__name__
    # The name of the builtin is not taken by a module's own functions.
    return f"{noun}.{'list' if verb == 'find' else verb}"


def _render_json(endpoint: Endpoint) -> Endpoint:
    @wraps(endpoint)
    async def written(**values: Any) -> Any:
        shown = await endpoint(**values)
        if shown is None or isinstance(shown, Response):
            return shown
        # Responses are printed by curl and the like: what would steer a terminal is escaped.
        return printable_json(to_json(shown, inf_nan_mode="null").decode())

    return written


def _with_fastapi_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the markers of its parameters replaced by FastAPI's."""
    signature = inspect.signature(function)
    parameters = [_fastapi_parameter(function, each) for each in signature.parameters.values()]

    @wraps(function)
    async def call(**values: Any) -> Any:
        found = function(**values)
        return await found if inspect.isawaitable(found) else found

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by FastAPI
    return call


@cache  # FastAPI resolves equal dependencies of a request once
def _dependency(call: Callable[..., Any]) -> Callable[..., Any]:
    return _with_fastapi_signature(call)


def as_dependency(depends: routing.Depends) -> Any:
    """A dependency as FastAPI's."""
    return fastapi.Depends(_dependency(depends.call))


def _fastapi_parameter(
    function: Callable[..., Any], parameter: inspect.Parameter
) -> inspect.Parameter:
    marker = marker_of(parameter.annotation)
    if isinstance(marker, routing.Depends):
        return parameter.replace(annotation=Annotated[Any, as_dependency(marker)])
    annotation = resolve(function, parameter.annotation)
    if annotation is routing.Request:
        return parameter.replace(annotation=fastapi.Request)
    if annotation is routing.Response:
        return parameter.replace(annotation=fastapi.Response)
    if marker is not None:
        kind = typing.get_args(annotation)[0]
        made = _PARAMETERS[type(marker)](**marker.given())
        return parameter.replace(annotation=Annotated[kind, made])
    return parameter.replace(annotation=annotation)
