"""Declares API routes without an HTTP framework, and lists the modules that contain them.

A route function maps a request to a verb of the engine, and its result to JSON. Its parameters are
marked by the classes here. Types that are slow to import, such as body models, are named in text
and resolved when a request has a value for them. `http_routes` serves routes over HTTP;
`local_calls` calls them in this process, for commands that use a database directly.
"""

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Annotated, Any, ForwardRef, Literal, Protocol

PREFIX = "/api/v1"
#: OpenAPI fields: the route's right, and the mark that owners may call it for their own jobs.
RIGHT, OWN = "x-right", "x-own"
#: Replaces the right of a route that needs none.
NO_RIGHT = "none"
#: Nesting levels allowed in a body around its payload.
AROUND_PAYLOAD = 4

Endpoint = Callable[..., Any]
Decorator = Callable[[Endpoint], Endpoint]
#: Responses are kept under idempotency keys, keys are refused, or the route handles them itself.
IdempotencyPolicy = Literal["kept", "refused", "own"]

#: Noun -> module below `windlass.api`, in the order of the reference.
NOUNS = {
    "jobs": "jobs.jobs",
    "dead": "jobs.dead",
    "operations": "jobs.operations",
    "definitions": "definitions.definitions",
    "schedules": "triggers.schedules",
    "triggers": "triggers.triggers",
    "events": "triggers.events",
    "queues": "leases.queues",
    "workers": "leases.workers",
    "logs": "jobs.logs",
    "worker": "leases.http_workers",
    "tenants": "access.tenants",
    "members": "access.members",
    "users": "access.users",
    "tokens": "access.tokens",
    "audit": "access.audit",
    "stats": "monitoring.stats",
    "stream": "live.stream",
    "settings": "monitoring.settings",
    "dev": "monitoring.development",
    "notifications": "monitoring.notifications",
}
#: The same for routes about the caller.
CALLERS = {"whoami": "access.whoami"}


class Request(Protocol):
    """The part of a request that routes use: Starlette's, or `LocalRequest`."""

    @property
    def app(self) -> Any: ...
    @property
    def state(self) -> Any: ...
    @property
    def method(self) -> str: ...
    @property
    def url(self) -> Any: ...
    @property
    def base_url(self) -> Any: ...
    @property
    def client(self) -> Any: ...
    @property
    def scope(self) -> Any: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def cookies(self) -> Mapping[str, str]: ...
    @property
    def query_params(self) -> Any: ...
    @property
    def path_params(self) -> Mapping[str, Any]: ...
    @property
    def receive(self) -> Any: ...
    async def body(self) -> bytes: ...


class Response(Protocol):
    """The part of a response that routes set."""

    status_code: int

    @property
    def headers(self) -> Any: ...
    @property
    def body(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class RequestParameter:
    """A parameter of a request, with the bounds of its value."""

    description: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    ge: float | None = None
    le: float | None = None
    allow_inf_nan: bool | None = None

    def given(self) -> dict[str, Any]:
        """The description and bounds that are set, by name."""
        named = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in named if value is not None}


class Query(RequestParameter):
    """Marks a query parameter."""


class Path(RequestParameter):
    """Marks a path parameter."""


class Header(RequestParameter):
    """Marks a header parameter."""


@dataclass(frozen=True)
class Depends:
    """Marks a parameter filled with the result of a call; that call's parameters are marked too."""

    call: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """Name of a response model in `schema.responses`, imported only for the reference."""

    name: str
    kind: Literal["one", "listed", "paged"] = "one"

    def model(self) -> Any:
        from windlass.api.schema import responses

        model = getattr(responses, self.name)
        return model if self.kind == "one" else getattr(responses, self.kind)(model)


def listed(name: str) -> Shape:
    """Response with all items of a list."""
    return Shape(name, "listed")


def paged(name: str) -> Shape:
    """Response with a page of a list and the cursor of the next page."""
    return Shape(name, "paged")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A declared route."""

    noun: str
    tag: str
    method: str
    path: str
    endpoint: Endpoint
    right: str
    own: bool
    audits: bool
    keys: IdempotencyPolicy
    any_text: bool
    shape: Shape | None
    also: tuple[int, ...]
    status_code: int
    #: Options passed on to FastAPI.
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tags(self) -> list[str]:
        return [self.tag]

    @property
    def openapi_extra(self) -> dict[str, Any]:
        return {RIGHT: self.right, **({OWN: True} if self.own else {})}


class Routes:
    """The routes of one noun.

    `any_text` accepts text that databases cannot store, for verbs that replace it.
    """

    def __init__(self, noun: str, *, tag: str = "", any_text: bool = False) -> None:
        self._noun = noun
        self._tag = tag or noun
        self._any_text = any_text
        self.declared: list[Route] = []

    def get(self, path: str, right: str, shape: Shape | str = "", **about: Any) -> Decorator:
        return self._route("GET", path, right, shape, **about)

    def post(self, path: str, right: str, shape: Shape | str = "", **about: Any) -> Decorator:
        return self._route("POST", path, right, shape, **about)

    def patch(self, path: str, right: str, shape: Shape | str = "", **about: Any) -> Decorator:
        return self._route("PATCH", path, right, shape, **about)

    def delete(self, path: str, right: str, shape: Shape | str = "", **about: Any) -> Decorator:
        return self._route("DELETE", path, right, shape, **about)

    def _route(
        self,
        method: str,
        path: str,
        right: str,
        shape: Shape | str,
        *,
        own: bool = False,
        audits: bool = True,
        keys: IdempotencyPolicy | None = None,
        also: tuple[int, ...] = (),
        status_code: int = 200,
        **about: Any,
    ) -> Decorator:
        """Declare a route. `shape` is the response model for the reference; responses are not
        checked against it. `own` admits callers limited to their own jobs, who see only those.
        `audits` is off where the verb writes its audit entry itself."""

        def declare(endpoint: Endpoint) -> Endpoint:
            self.declared.append(
                Route(
                    noun=self._noun,
                    tag=self._tag,
                    method=method,
                    path=f"{PREFIX}/{self._noun}{path}",
                    endpoint=endpoint,
                    right=right,
                    own=own,
                    audits=audits,
                    keys=keys or ("own" if method == "GET" else "kept"),
                    any_text=self._any_text,
                    shape=(Shape(shape) if shape else None) if isinstance(shape, str) else shape,
                    also=also,
                    status_code=status_code,
                    about=about,
                )
            )
            return endpoint

        return declare


def routes_of(noun: str) -> Sequence[Route]:
    """The routes of a noun; imports its module if needed."""
    routes: Routes = import_module(f"windlass.api.{(NOUNS | CALLERS)[noun]}").routes
    return routes.declared


def marker_of(annotation: Any) -> RequestParameter | Depends | None:
    """The marker in an annotation, if it has one."""
    if typing.get_origin(annotation) is not Annotated:
        return None
    markers = (
        each for each in annotation.__metadata__ if isinstance(each, RequestParameter | Depends)
    )
    return next(markers, None)


def resolve(function: Callable[..., Any], annotation: Any) -> Any:
    """Resolve the types named in text in an annotation of a function."""
    if isinstance(annotation, str):
        return _look_up(function, annotation)
    if typing.get_origin(annotation) is not Annotated:
        return annotation
    inner = annotation.__origin__
    if not isinstance(inner, ForwardRef):
        return annotation
    type = _look_up(function, inner.__forward_arg__)
    return Annotated[type, *annotation.__metadata__]


def _look_up(function: Callable[..., Any], text: str) -> Any:
    from windlass.api.schema import requests, worker_requests

    names = {**vars(worker_requests), **vars(requests), **getattr(function, "__globals__", {})}
    return eval(text, names)
