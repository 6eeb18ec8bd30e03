"""Routes that each declare the right they need. One without is never reached."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property, wraps
from json import JSONDecodeError
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from windlass.api.access.callers import OWN, RIGHT, needs
from windlass.api.middleware import audit, idempotency, problems
from windlass.api.middleware.idempotency import IdempotencyPolicy
from windlass.api.middleware.query_parameters import check_query
from windlass.core.payloads.json_text import DEEPEST, read_json
from windlass.errors import (
    FieldError,
    PayloadUnstorable,
    RequestInvalid,
    ServerFailed,
    WindlassError,
)
from windlass.errors.wording import printable_json

PREFIX = "/api/v1"

Endpoint = Callable[..., Any]
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Decorator = Callable[[Endpoint], Endpoint]
_PROBLEM = {
    "description": "A problem",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
#: What every route may answer instead.
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}


#: In this order: whoever may not do something is not told what was answered to it.
_KEYS: Mapping[IdempotencyPolicy, Sequence[Any]] = {
    "kept": [Depends(idempotency.once)],
    "refused": [Depends(idempotency.reject_idempotency_key)],
    "own": [],
}


#: Levels that a body may have around a payload.
_AROUND_PAYLOAD = 4


class JsonRequest(Request):
    """A request whose body is read by the rules for all JSON from outside."""

    def __init__(self, request: Request, *, any_text: bool) -> None:
        super().__init__(request.scope, request.receive)
        self._any_text = any_text

    async def json(self) -> Any:
        try:
            self.state.sent = read_json(
                await self.body(),
                what="the request",
                deepest=DEEPEST + _AROUND_PAYLOAD,
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


class SafeRoute(APIRoute):
    """Reads JSON strictly, and answers an unforeseen error with an id, not with internals."""

    #: Whether bodies may have text that no database stores; it is replaced then.
    any_text = False

    def __init__(self, path: str, endpoint: Endpoint, **about: Any) -> None:
        if about.get("include_in_schema", True):  # pages may be reached by links with more in them
            # The last one: whoever may not ask is told that, not what the route takes.
            about["dependencies"] = [*(about.get("dependencies") or ()), Depends(check_query)]
            about["operation_id"] = about.get("operation_id") or _operation_id(endpoint, about)
        super().__init__(path, endpoint, **about)

    def get_route_handler(self) -> Handler:
        handle = self.handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(JsonRequest(request, any_text=self.any_text))
            except (WindlassError, HTTPException, RequestValidationError):
                raise
            except Exception as error:  # noqa: BLE001  the log has it, the answer must not
                problems.log_unexpected_error(request, error)
                raise ServerFailed from None

        return handled

    def handler(self) -> Handler:
        """What handles a request, and may raise anything."""
        return super().get_route_handler()


def _operation_id(endpoint: Endpoint, about: Mapping[str, Any]) -> str:
    """What a route is called in generated clients: its noun and its verb, such as `jobs.list`."""
    [noun, *_] = about["tags"]
    verb = endpoint.__name__
    # The name of the builtin is not taken by a module's own functions.
    return f"{noun}.{'list' if verb == 'find' else verb}"


class _Route(SafeRoute):
    """Answers only once a change is in the audit, and its answer kept for who asks again."""

    def handler(self) -> Handler:
        handle = super().handler()

        async def handled(request: Request) -> Response:
            try:
                response = await handle(request)
            except idempotency.Repeated as repeated:
                return repeated.response()
            except Exception as error:
                await idempotency.release(request)
                await audit.record_refusal(request, error)
                raise
            await audit.end(request, response)
            await idempotency.keep(request, response)
            return response

        return handled


class _AnyTextRoute(_Route):
    any_text = True


class _JsonTextResponse(JSONResponse):
    """JSON that is text already: what we show is plain, and needs nobody to look through it again."""

    def render(self, content: str | None) -> bytes:
        return b"null" if content is None else content.encode()


def _render_json(endpoint: Endpoint) -> Endpoint:
    @wraps(endpoint)
    async def written(**values: Any) -> Any:
        shown = await endpoint(**values)
        if shown is None or isinstance(shown, Response):
            return shown
        # Answers are printed by curl and the like: what would steer a terminal is escaped.
        return printable_json(to_json(shown, inf_nan_mode="null").decode())

    return written


class Routes:
    """The routes of one noun. They are made when they are first needed: that takes a while.

    `any_text` lets bodies have text that no database stores, for verbs that replace it.
    """

    def __init__(self, noun: str, *, any_text: bool = False) -> None:
        self._noun = noun
        self._any_text = any_text
        self._declared: list[tuple[str, Endpoint, dict[str, Any]]] = []

    @cached_property
    def made(self) -> Sequence[BaseRoute]:
        """Shared by all the APIs of a process: to be added to one, not included, which would copy
        them into it."""
        router = APIRouter(
            prefix=f"{PREFIX}/{self._noun}",
            tags=[self._noun],
            route_class=_AnyTextRoute if self._any_text else _Route,
            default_response_class=_JsonTextResponse,
        )
        for path, endpoint, about in self._declared:
            router.add_api_route(path, _render_json(endpoint), **about)
        return router.routes

    def get(self, path: str, right: str, shows: Any = None, **about: Any) -> Decorator:
        return self._route("GET", path, right, shows, **about)

    def post(self, path: str, right: str, shows: Any = None, **about: Any) -> Decorator:
        return self._route("POST", path, right, shows, **about)

    def patch(self, path: str, right: str, shows: Any = None, **about: Any) -> Decorator:
        return self._route("PATCH", path, right, shows, **about)

    def delete(self, path: str, right: str, shows: Any = None, **about: Any) -> Decorator:
        return self._route("DELETE", path, right, shows, **about)

    def _route(self, method: str, path: str, right: str, shows: Any, **about: Any) -> Decorator:
        """`shows` is the shape of the answer, for the reference: it is not checked on the way out.
        `own` says that whoever may touch only what they made is welcome, and sees only that;
        `audits` is off where the verb writes its audit entry itself; `keys` tells what becomes of
        an idempotency key."""
        own, audits = about.pop("own", False), about.pop("audits", True)
        keys: IdempotencyPolicy = about.pop("keys", "own" if method == "GET" else "kept")
        status = about.get("status_code", 200)
        answers = dict(PROBLEMS)
        answers |= about.pop("answers", {})
        if shows is not None:
            answers |= {each: {"model": shows} for each in {status, *about.pop("also", ())}}
        about |= {
            "methods": [method],
            "dependencies": [Depends(needs(right, audits=audits)), *_KEYS[keys]],
            "openapi_extra": {RIGHT: right, **({OWN: True} if own else {})},
            "response_model": None,
            "responses": answers,
        }

        def declared(endpoint: Endpoint) -> Endpoint:
            self._declared.append((path, endpoint, about))
            return endpoint

        return declared
