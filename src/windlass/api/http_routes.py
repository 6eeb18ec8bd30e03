"""Serves routes over HTTP with FastAPI: checks rights, and hides the internals of errors."""

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
from windlass.api.access.callers import (
    CurrentCaller,
    ReadyEngine,
    rate_limited_caller,
    require_right,
)
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
from windlass.core.payloads.json_text import DEEPEST, printable_json, read_json
from windlass.errors import (
    FieldError,
    PayloadUnstorable,
    RequestInvalid,
    ServerFailed,
    WindlassError,
)

Handler = Callable[[fastapi.Request], Coroutine[Any, Any, Response]]
_PROBLEM = {
    "description": "A problem",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
#: Error responses of every route.
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}


async def _take_key(
    request: routing.Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    idempotency_key: idempotency.Key = None,
) -> None:
    if idempotency_key is not None:
        await idempotency.begin_idempotent(request, caller, engine, idempotency_key)


#: Checked after the right: callers without it must not learn other callers' responses.
_KEYS: Mapping[IdempotencyPolicy, Sequence[routing.Depends]] = {
    "kept": [routing.Depends(_take_key)],
    "refused": [routing.Depends(idempotency.reject_idempotency_key)],
    "own": [],
}
#: Marker -> its FastAPI equivalent.
_PARAMETERS: Mapping[type, Callable[..., Any]] = {
    routing.Query: fastapi.Query,
    routing.Path: fastapi.Path,
    routing.Header: fastapi.Header,
}


class JsonRequest(fastapi.Request):
    """A request whose body is parsed by the strict rules for external JSON."""

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
                problem = FieldError(
                    "", f"not JSON: {wrong.msg[:1].lower()}{wrong.msg[1:]} at {where}"
                )
                # FastAPI lets only HTTPException pass while it reads a body.
                raise HTTPException(422) from RequestInvalid([problem])
            raise
        return self.state.sent


async def _check_query(request: fastapi.Request) -> None:
    if request.scope["query_string"]:
        check_query(request)


class SafeRoute(APIRoute):
    """Reads JSON strictly, and reports an unexpected error by an id, without internals."""

    #: True if bodies may contain text that databases cannot store; it is replaced.
    any_text = False

    def __init__(self, path: str, endpoint: Endpoint, **about: Any) -> None:
        dependencies = [*(about.get("dependencies") or ())]
        if about.get("include_in_schema", True):  # links to pages may have other parameters
            # The last one: a caller without the right gets that error, not a parameter list.
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
            except Exception as error:  # noqa: BLE001  logged, but kept out of the response
                problems.log_unexpected_error(request, error)
                raise ServerFailed from None

        return handled

    def handler(self) -> Handler:
        """The handler of a request, which may raise anything."""
        return super().get_route_handler()


class _NounRoute(SafeRoute):
    """Responds only after the audit entry and the response for repeated requests are stored."""

    def handler(self) -> Handler:
        handle = super().handler()

        async def handled(request: fastapi.Request) -> Response:
            try:
                response = await handle(request)
            except idempotency.ReplayedResponse as replayed:
                return replayed.response()
            except Exception as error:
                if hasattr(request.state, "taken_key"):
                    await idempotency.release_key(request)
                await audit.record_refusal(request, error)
                raise
            if pending := getattr(request.state, "pending_audit", None):
                await audit.end(request, response, pending)
            if hasattr(request.state, "taken_key"):
                await idempotency.store_response(request, response)
            return response

        return handled


class _AnyTextRoute(_NounRoute):
    any_text = True


class _JsonTextResponse(JSONResponse):
    """A response whose content is already JSON text."""

    def render(self, content: str | None) -> bytes:
        return b"null" if content is None else content.encode()


@cache
def fastapi_routes(noun: str) -> Sequence[BaseRoute]:
    """The FastAPI routes of a noun. Building them is slow, so all APIs of a process share them. Add
    them to an API; `include_router` would copy them."""
    router = APIRouter()
    for route in routes_of(noun):
        _add(router, route)
    return router.routes


def asks_for_caller(route: APIRoute) -> bool:
    """True for a route that authenticates its caller."""

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
        responses=PROBLEMS | about.pop("responses", {}) | shapes,
        route_class_override=SafeRoute if route.right == NO_RIGHT else kind,
        **about,
    )


def _statuses(route: Route) -> set[int]:
    return {route.status_code, *route.also}


def _operation_id(endpoint: Endpoint, about: Mapping[str, Any]) -> str:
    """The name of a route in generated clients: its noun and its verb, such as `jobs.list`."""
    [noun, *_] = about["tags"]
    verb = endpoint.__name__
    # The function is called `find` because `list` would hide the builtin.
    return f"{noun}.{'list' if verb == 'find' else verb}"


def _render_json(endpoint: Endpoint) -> Endpoint:
    @wraps(endpoint)
    async def written(**values: Any) -> Any:
        result = await endpoint(**values)
        if result is None or isinstance(result, Response):
            return result
        # Escape terminal control characters, because curl prints responses as they are.
        return printable_json(to_json(result, inf_nan_mode="null").decode())

    return written


def _with_fastapi_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function, with its parameter markers replaced by FastAPI's."""
    signature = inspect.signature(function)
    parameters = [_fastapi_parameter(function, each) for each in signature.parameters.values()]

    @wraps(function)
    async def call(**values: Any) -> Any:
        result = function(**values)
        return await result if inspect.isawaitable(result) else result

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by FastAPI
    return call


@cache  # FastAPI resolves equal dependencies of a request once
def _dependency(call: Callable[..., Any]) -> Callable[..., Any]:
    return _with_fastapi_signature(call)


def as_dependency(depends: routing.Depends) -> Any:
    """Convert a dependency to FastAPI's."""
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
        converted = _PARAMETERS[type(marker)](**marker.given())
        return parameter.replace(annotation=Annotated[kind, converted])
    return parameter.replace(annotation=annotation)
