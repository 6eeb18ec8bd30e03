"""Calls routes in this process, without HTTP, for commands that use a database directly.

A call binds its query and body, checks the right and writes the audit like a request over HTTP.
It skips a server's protections: rate limits, sizes, idempotency keys in headers, cookies.
"""

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any, Protocol
from urllib.parse import unquote

from windlass.api import routing
from windlass.api.access.callers import Caller, require_right
from windlass.api.middleware import audit
from windlass.api.middleware.hints import CALLER, COMMANDS
from windlass.api.routing import (
    CALLERS,
    NO_RIGHT,
    NOUNS,
    PREFIX,
    Depends,
    RequestParameter,
    Route,
    marker_of,
    resolve,
    routes_of,
)
from windlass.api.schema.cursors import Cursors
from windlass.core.payloads.json_text import DEEPEST, read_json
from windlass.engine.engine import Engine
from windlass.errors import (
    FieldError,
    MethodRefused,
    PathUnknown,
    RequestInvalid,
    ServerFailed,
    WindlassError,
)
from windlass.ids import new_job_id
from windlass.settings import Settings
from windlass.tasks import all_tenants
from windlass.telemetry import Telemetry

Pairs = Sequence[tuple[str, str]]
#: A local caller owns the database, so cursors need no secret key.
_CURSOR_KEY = b"windlass"
_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
_FLAGS = {"true": True, "false": False}
#: Marks a value that needs pydantic for conversion or for its error.
_UNSURE = object()


class App(Protocol):
    """The app that routes find in `request.app.state.windlass`."""

    @property
    def settings(self) -> Settings: ...
    @property
    def telemetry(self) -> Telemetry: ...
    async def ready(self) -> Engine: ...
    async def ready_to_read(self) -> Engine: ...


class _Query(dict[str, str]):
    """Query parameters: a mapping to the last value of each; `multi_items` has all values."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def multi_items(self) -> Pairs:
        return self._pairs


@dataclass
class LocalRequest:
    """A request from this process."""

    app: Any
    method: str
    url: Any
    scope: Mapping[str, Any]
    query_params: _Query
    path_params: Mapping[str, str]
    text: str
    client: None = None
    base_url: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: {CALLER: COMMANDS})
    cookies: Mapping[str, str] = field(default_factory=dict)
    state: Any = field(default_factory=lambda: SimpleNamespace(request_id=str(new_job_id())))
    receive: Any = None

    async def body(self) -> bytes:
        return self.text.encode()


@dataclass
class LocalResponse:
    """A response as JSON text."""

    status_code: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class LocalApi:
    """The API of an app, called from this process."""

    def __init__(self, app: App, caller: Caller) -> None:
        async def authenticate(request: object) -> Caller:
            return caller

        self._app = app
        self._state = SimpleNamespace(
            windlass=app,
            telemetry=app.telemetry,
            authenticate=authenticate,
            cursors=Cursors(_CURSOR_KEY),
            limits=_Unlimited(),
        )

    async def send(self, method: str, path: str, query: Pairs, body: object) -> LocalResponse:
        """Call a route and return its response; errors are raised unchanged."""
        _check_characters(path, query)
        route, path_params = _find(method, path)
        request = LocalRequest(
            app=SimpleNamespace(state=self._state),
            method=method,
            url=SimpleNamespace(path=path),
            scope={"route": route, "path": path},
            query_params=_Query(query),
            path_params=path_params,
            text="" if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False),
        )
        with all_tenants():  # a call's tenant binding must not outlive it
            try:
                if method == "GET":
                    request.state.engine = await self._app.ready_to_read()
                return await _respond(route, request)
            except WindlassError:
                raise
            except Exception as error:
                id = request.state.request_id
                self._app.telemetry.trouble("handling a request", error, request_id=id)
                raise ServerFailed from error


class _Unlimited:
    """A rate limiter without limits."""

    def reject(self, request: object) -> None:
        """Nothing is counted."""

    def admit(self, request: object, *caller: object, works: bool) -> None:
        """Nothing is counted."""


def _check_characters(path: str, query: Pairs) -> None:
    """Refuse an address with NUL, which databases cannot compare."""
    if "%00" in path or any("\0" in text for pair in query for text in pair):
        raise RequestInvalid([FieldError("", "the address has a NUL character")])


def _find(method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    """Find the route of a path, and its path parameters; raises PathUnknown, MethodRefused."""
    noun = path.removeprefix(f"{PREFIX}/").partition("/")[0]
    if noun not in NOUNS and noun not in CALLERS:
        raise PathUnknown(unquote(path))
    met: dict[str, Route] = {}
    for route in routes_of(noun):
        if (match := _pattern(route.path).fullmatch(unquote(path))) is None:
            continue
        if route.method == method:
            return route, match.groupdict()
        met[route.method] = route
    if met:
        raise MethodRefused(method, unquote(path), allowed=", ".join(sorted(met)))
    raise PathUnknown(unquote(path))


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_PARAMETER.sub(lambda m: f"(?P<{m[1]}>{'.*' if m[2] else '[^/]+'})", path))


async def _respond(route: Route, request: LocalRequest) -> LocalResponse:
    response = LocalResponse(route.status_code)
    try:
        if request.text:
            request.state.sent = read_json(
                request.text.encode(),
                what="the request",
                deepest=DEEPEST + routing.AROUND_PAYLOAD,
                any_text=route.any_text,
            )
        result = await _Call(request, response).make(route)
    except Exception as error:
        if route.right != NO_RIGHT:
            await audit.record_refusal(request, error)
        raise
    response.body = b"" if result is None else _json_text(result).encode()
    if pending := getattr(request.state, "pending_audit", None):
        await audit.end(request, response, pending)
    return response


def _json_text(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # most responses are plain JSON
        from pydantic_core import to_json

        return to_json(value, inf_nan_mode="null").decode()


class _Call:
    """One call of a route. Collects all problems of its parameters and raises them together."""

    def __init__(self, request: LocalRequest, response: LocalResponse) -> None:
        self._request = request
        self._response = response
        self._results: dict[Callable[..., Any], Any] = {}
        self._problems: list[dict[str, Any]] = []
        self._body: Any = None

    async def make(self, route: Route) -> Any:
        if route.right != NO_RIGHT:
            await self._result(require_right(route.right, audits=route.audits))
        values = await self._values(route.endpoint)
        if values is None or self._problems:
            self._raise_problems()
        return await route.endpoint(**values or {})

    async def _result(self, call: Callable[..., Any]) -> tuple[bool, Any]:
        """True and the result of a dependency; False if its parameters are invalid."""
        if call in self._results:
            return True, self._results[call]
        values = await self._values(call)
        if values is None:
            return False, None
        result = call(**values)
        self._results[call] = await result if inspect.isawaitable(result) else result
        return True, self._results[call]

    async def _values(self, function: Callable[..., Any]) -> dict[str, Any] | None:
        """The values of a function's parameters; None if one is invalid."""
        before = len(self._problems)
        values: dict[str, Any] = {}
        parameters = inspect.signature(function).parameters.values()
        rest: list[tuple[inspect.Parameter, RequestParameter | None]] = []
        for parameter in parameters:
            marker = marker_of(parameter.annotation)
            if isinstance(marker, Depends):
                ok, values[parameter.name] = await self._result(marker.call)
                if not ok:
                    return None
            else:
                rest.append((parameter, marker))
        for parameter, marker in rest:
            values[parameter.name] = self._value(function, parameter, marker)
        return values if len(self._problems) == before else None

    def _value(
        self,
        function: Callable[..., Any],
        parameter: inspect.Parameter,
        marker: RequestParameter | None,
    ) -> Any:
        name, annotation = parameter.name, parameter.annotation
        if annotation is routing.Request:
            return self._request
        if annotation is routing.Response:
            return self._response
        match marker:
            case routing.Query():
                values = [
                    value for key, value in self._request.query_params.multi_items() if key == name
                ]
                return self._converted("query", function, parameter, marker, values)
            case routing.Path():
                values = [self._request.path_params[name]]
                return self._converted("path", function, parameter, marker, values)
            case routing.Header():
                return parameter.default
            case _:
                return self._sent(function, parameter)

    def _converted(
        self,
        holder: str,
        function: Callable[..., Any],
        parameter: inspect.Parameter,
        marker: RequestParameter,
        values: list[str],
    ) -> Any:
        if not values:
            if parameter.default is inspect.Parameter.empty:
                self._problems.append({"type": "missing", "loc": (holder, parameter.name)})
            return parameter.default
        plain = _plain_value(parameter.annotation.__origin__, marker, values)
        if plain is not _UNSURE:
            return plain
        from pydantic import Field

        kind = typing.get_args(resolve(function, parameter.annotation))[0]
        value = values if _is_list(kind) else values[-1]
        about: Any = typing.Annotated[kind, Field(**marker.given())]
        return self._validated((holder, parameter.name), about, value)

    def _sent(self, function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
        """The body, as the route's model."""
        if not self._request.text and parameter.default is not inspect.Parameter.empty:
            return parameter.default
        self._body = resolve(function, parameter.annotation)
        sent = getattr(self._request.state, "sent", None)
        return self._validated(("body",), self._body, sent)

    def _validated(self, place: tuple[str, ...], kind: Any, value: object) -> Any:
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            self._problems += [{**each, "loc": (*place, *each["loc"])} for each in problems]
            return None

    def _raise_problems(self) -> typing.NoReturn:
        from windlass.api.middleware.field_names import model_in, validation_problem

        sent = getattr(self._request.state, "sent", None)
        raise validation_problem(self._request, self._problems, sent, model_in(self._body))


def _plain_value(kind: Any, marker: RequestParameter, values: list[str]) -> Any:
    """Convert a parameter of a plain type; `_UNSURE` if that needs pydantic."""
    options = [each for each in typing.get_args(kind) if each is not type(None)]
    if typing.get_origin(kind) is typing.Literal:
        return values[-1] if values[-1] in options else _UNSURE
    if len(options) == 1 and not _is_list(kind):
        return _plain_value(options[0], marker, values)
    text = values[-1]
    if kind == list[str]:
        return values
    if kind is str and (marker.min_length or 0) <= len(text) <= (marker.max_length or len(text)):
        return text
    if kind is bool:
        return _FLAGS.get(text, _UNSURE)
    if kind is int and _WHOLE_NUMBER.fullmatch(text):
        number = int(text)
        least, most = marker.ge, marker.le
        if (least is None or least <= number) and (most is None or number <= most):
            return number
    return _UNSURE


def _is_list(kind: Any) -> bool:
    return any(typing.get_origin(each) is list for each in (kind, *typing.get_args(kind)))
