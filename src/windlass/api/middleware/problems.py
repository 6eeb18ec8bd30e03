"""Errors as `application/problem+json`: what happened, why, what to do, a stable code, a request id."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

from windlass import errors
from windlass.api.middleware.field_names import (
    body_model,
    validation_problem,
    with_request_names,
)
from windlass.api.middleware.hints import commands_to_requests, is_cli_request
from windlass.core.payloads.json_text import printable_json
from windlass.errors import FieldError, WindlassError

#: Error class -> status. A class that is not listed is answered as the class above it is.
STATUS: Mapping[type[WindlassError], HTTPStatus] = {
    WindlassError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.DatabaseUnreachable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseFull: HTTPStatus.INSUFFICIENT_STORAGE,
    errors.DatabaseReadOnly: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseAccessDenied: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseDamaged: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseNotReady: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseNotFound: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseTimeout: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.AuditKeyMissing: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.AuditKeyInvalid: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ServerDraining: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SchemaOutdated: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SchemaTooNew: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.MigrationChanged: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.RequestInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.PathUnknown: HTTPStatus.NOT_FOUND,
    errors.KeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.KeyInUse: HTTPStatus.CONFLICT,
    errors.MethodRefused: HTTPStatus.METHOD_NOT_ALLOWED,
    errors.NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.TriggerRightGone: HTTPStatus.FORBIDDEN,
    errors.OpenAccessRefused: HTTPStatus.FORBIDDEN,
    errors.CrossSiteRefused: HTTPStatus.FORBIDDEN,
    errors.StreamsFull: HTTPStatus.TOO_MANY_REQUESTS,
    errors.RequestsThrottled: HTTPStatus.TOO_MANY_REQUESTS,
    errors.LoginFailed: HTTPStatus.UNAUTHORIZED,
    errors.LoginThrottled: HTTPStatus.TOO_MANY_REQUESTS,
    errors.LinkInvalid: HTTPStatus.UNAUTHORIZED,
    errors.TenantNeeded: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.UserNotFound: HTTPStatus.NOT_FOUND,
    errors.UserExists: HTTPStatus.CONFLICT,
    errors.MemberNotFound: HTTPStatus.NOT_FOUND,
    errors.InvitationInvalid: HTTPStatus.FORBIDDEN,
    errors.MemberExists: HTTPStatus.CONFLICT,
    errors.SuperadminByInvitation: HTTPStatus.CONFLICT,
    errors.TenantExists: HTTPStatus.CONFLICT,
    errors.TenantReserved: HTTPStatus.CONFLICT,
    errors.TokenNotFound: HTTPStatus.NOT_FOUND,
    errors.SessionNotFound: HTTPStatus.NOT_FOUND,
    errors.OperationNotFound: HTTPStatus.NOT_FOUND,
    errors.OperationTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.OperationStateConflict: HTTPStatus.CONFLICT,
    errors.PayloadInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.PayloadTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.PayloadUnstorable: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.PayloadKeyMissing: HTTPStatus.CONFLICT,
    errors.PayloadUndecryptable: HTTPStatus.CONFLICT,
    errors.IdInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.OptionInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.FilterInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.DefinitionNotFound: HTTPStatus.NOT_FOUND,
    errors.DefinitionDisabled: HTTPStatus.CONFLICT,
    errors.DefinitionExists: HTTPStatus.CONFLICT,
    errors.DefinitionInUse: HTTPStatus.CONFLICT,
    errors.DefinitionInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TenantNotFound: HTTPStatus.NOT_FOUND,
    errors.TenantSuspended: HTTPStatus.CONFLICT,
    errors.JobNotFound: HTTPStatus.NOT_FOUND,
    errors.JobStateConflict: HTTPStatus.CONFLICT,
    errors.AmbiguousId: HTTPStatus.CONFLICT,
    errors.DuplicateJob: HTTPStatus.CONFLICT,
    errors.BatchRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ParentInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.DeadGroupNotFound: HTTPStatus.NOT_FOUND,
    errors.WorkerNotFound: HTTPStatus.NOT_FOUND,
    errors.WorkerGone: HTTPStatus.CONFLICT,
    errors.WorkerStopping: HTTPStatus.CONFLICT,
    errors.TriggerNotFound: HTTPStatus.NOT_FOUND,
    errors.TriggerExists: HTTPStatus.CONFLICT,
    errors.TriggerFieldsMixed: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TriggerUnreadable: HTTPStatus.CONFLICT,
    errors.EventNotFound: HTTPStatus.NOT_FOUND,
    errors.EventChainTooLong: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ScheduleInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ZoneUnknown: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TemplateInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TemplateMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TemplateFailed: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ConditionInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
}


class ProblemResponse(JSONResponse):
    media_type = "application/problem+json"

    def render(self, content: Any) -> bytes:
        # An error may name a field of the request with half of a surrogate pair in it. Its escape
        # is how JSON writes that, too.
        text = json.dumps(content, ensure_ascii=False)
        return printable_json(text).encode(errors="backslashreplace")


def install(app: FastAPI) -> None:
    """Have every error of an app answered as a problem."""
    app.add_exception_handler(WindlassError, _windlass_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected_error)


def status_of(kind: type[WindlassError]) -> HTTPStatus:
    """The status that a kind of error is answered with."""
    return next(STATUS[each] for each in kind.__mro__ if each in STATUS)


def problem(request: Request, error: WindlassError, **headers: str) -> ProblemResponse:
    def told(text: str) -> str:
        return text if is_cli_request(request) else commands_to_requests(text)

    if not is_cli_request(request):
        error = with_request_names(request, error)
    status = status_of(type(error))
    body: dict[str, Any] = {
        "type": f"urn:windlass:{error.code}",
        "title": error.message,
        "status": status.value,
        "code": error.code,
        "detail": told(error.reason),
        "hint": told(error.hint),
        "errors": [{"pointer": e.pointer, "message": told(e.message)} for e in error.errors],
        "request_id": request.state.request_id,
    }
    return ProblemResponse(body, status, headers)


async def _windlass_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WindlassError)
    return respond(request, error)


def respond(request: Request, error: WindlassError) -> Response:
    """The problem of an error, with the headers that its status asks for."""
    if isinstance(error, errors.NotAuthenticated):
        return problem(request, error, **{"www-authenticate": "Bearer"})
    if status_of(type(error)) is HTTPStatus.SERVICE_UNAVAILABLE:
        return problem(request, error, **{"retry-after": "5"})
    if isinstance(error, errors.StreamsFull | errors.RequestsThrottled | errors.KeyInUse):
        return problem(request, error, **{"retry-after": str(error.retry_seconds)})
    if isinstance(error, errors.LoginThrottled):
        return problem(request, error, **{"retry-after": str(error.retry_after_seconds)})
    return problem(request, error)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    route = request.scope.get("route")
    model = body_model(route) if isinstance(route, APIRoute) else None
    found = validation_problem(request, error.errors(), error.body, model)
    return problem(request, found)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, WindlassError):
        return problem(request, error.__cause__)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem(request, errors.PathUnknown(request.url.path))
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_methods_of(request))
        refused = errors.MethodRefused(request.method, request.url.path, allowed=allowed)
        return problem(request, refused, allow=allowed)
    return problem(request, errors.RequestInvalid([FieldError("", str(error.detail))]))


def _methods_of(request: Request) -> list[str]:
    """The methods that there are for the path of a request."""
    routes = [each for each in request.app.router.routes if isinstance(each, Route)]
    return sorted(
        method
        for route in routes
        if route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    )


async def _unexpected_error(request: Request, error: Exception) -> Response:
    """The problem of an error that no route has caught, such as one of a middleware."""
    log_unexpected_error(request, error)
    return problem(request, errors.ServerFailed())


def log_unexpected_error(request: Request, error: Exception) -> None:
    """Log an error under its request's id; see `Telemetry.trouble` for what of it."""
    request.app.state.telemetry.trouble(
        "answering a request", error, request_id=request.state.request_id
    )
