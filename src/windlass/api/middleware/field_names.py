"""Errors in the names of a request: pointers lead to the field or parameter that the caller sent.

A pointer is a JSON pointer into the body, `?name` of the query, `{name}` of the path, or `/name` of a
header.
"""

import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from windlass.api.routing import Request
from windlass.core.payloads.field_errors import by_types
from windlass.errors import (
    FieldError,
    OptionInvalid,
    PayloadInvalid,
    PayloadTooLarge,
    PayloadUnstorable,
    RequestInvalid,
    WindlassError,
)

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from pydantic import BaseModel

    from windlass.api.schema.requests import RequestModel

#: Fields whose value an error does not repeat: they are secret, or hold what a program was given.
_UNREPEATED = frozenset(
    {
        "payload",
        "default_payload",
        "data",
        "metadata",
        "result",
        "link",
        "before",
        "after",
        "password",
    }
)
_NO_JSON = "not JSON: send it with `Content-Type: application/json`"


class _FieldLocation(NamedTuple):
    """Where an option stands in a request. `sent` is what was given for a field that is called
    otherwise than its option, and so was converted."""

    pointer: str
    name: str
    sent: object = None


def validation_problem(
    request: Request,
    errors: Sequence[Mapping[str, Any]],
    body: object,
    model: "type[RequestModel] | None",
) -> RequestInvalid:
    """The error of a request whose fields are not what the route takes, of pydantic's `errors`."""
    by_holder: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in errors:
        holder, *inside = each["loc"]
        by_holder[holder].append({**each, "loc": inside})
    found: list[FieldError] = []
    for holder, problems in by_holder.items():
        match holder:
            case "body":
                found += _body_errors(problems, body, model)
            case "query":
                query = dict(request.query_params)
                found += [_error_at(f"?{e.pointer[1:]}", e) for e in by_types(problems, query, {})]
            case "path":
                named = by_types(problems, request.path_params, {})
                found += [_error_at(f"{{{e.pointer[1:]}}}", e) for e in named]
            case _:
                found += by_types(problems, dict(request.headers), {})
    return RequestInvalid(found)


def with_request_names(request: Request, error: WindlassError) -> WindlassError:
    """An error of a verb, with the names and pointers of the request that it was asked by."""
    from fastapi.routing import APIRoute

    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or isinstance(error, RequestInvalid):
        return error
    if isinstance(error, OptionInvalid):
        place = _locate_option(request, route, error.option)
        return error if place is None else error.renamed(place.name, place.sent, place.pointer)
    model = body_model(route)
    return (
        error
        if model is None
        else with_body_names(model, error, getattr(request.state, "sent", None))
    )


def with_body_names(
    model: "type[RequestModel]", error: WindlassError, sent: object = None
) -> WindlassError:
    """An error of a verb, with the names and pointers of a body of this model."""
    has_payload = "payload" in model.model_fields
    match error:
        case OptionInvalid():
            place = _locate_in_body(model, error.option, sent)
            return error if place is None else error.renamed(place.name, place.sent, place.pointer)
        case PayloadInvalid() if has_payload:
            within = [_error_at(f"/payload{each.pointer}", each) for each in error.errors]
            return PayloadInvalid(error.definition, within)
        case PayloadTooLarge() | PayloadUnstorable() if has_payload and error.of_payload:
            return _with_errors(
                error, [_error_at(f"/payload{each.pointer}", each) for each in error.errors]
            )
        case _ if error.errors and model.OPTIONS:
            return _with_errors(
                error, [_error_at(_rename_pointer(model, e.pointer), e) for e in error.errors]
            )
        case _:
            return error


def body_model(route: "APIRoute") -> "type[RequestModel] | None":
    """The model of the body that a route takes."""
    return None if route.body_field is None else model_in(route.body_field.field_info.annotation)


def model_in(annotation: Any) -> "type[RequestModel] | None":
    """The model in the annotation of a body, which may be left out."""
    from windlass.api.schema.requests import RequestModel

    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, RequestModel):
            return each
    return None


def _body_errors(
    problems: list[dict[str, Any]], body: object, model: "type[RequestModel] | None"
) -> list[FieldError]:
    if isinstance(body, bytes):
        return [FieldError("", _NO_JSON)]
    if body is None:
        return [FieldError("", "required: the request has no body")]
    return by_types(problems, body, _schema(model) if model else {})


@cache
def _schema(model: "type[BaseModel]") -> Mapping[str, Any]:
    """The fields of a model, with those marked that an error does not repeat."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(model).json_schema()
    hidden = {"writeOnly": True}
    return {
        **schema,
        "properties": {
            name: {**about, **hidden} if name in _UNREPEATED else about
            for name, about in schema.get("properties", {}).items()
        },
    }


def _locate_option(request: Request, route: "APIRoute", option: str) -> _FieldLocation | None:
    from windlass.api.middleware.query_parameters import parameters_of

    if option in request.query_params and option in parameters_of(route):
        return _FieldLocation(f"?{option}", option)
    model, name = body_model(route), option.replace(" ", "_")
    sent = getattr(request.state, "sent", None)
    if model is not None and (found := _locate_in_body(model, option, sent)):
        return found
    if name in request.path_params:
        return _FieldLocation(f"{{{name}}}", name)
    return None


def _locate_in_body(
    model: "type[RequestModel]", option: str, sent: object
) -> _FieldLocation | None:
    fields = {said: field for field, said in model.OPTIONS.items()}
    name = fields.get(option, option)
    given = sent if isinstance(sent, Mapping) else {}
    if name in model.model_fields:
        converted = name != option and name not in _UNREPEATED
        return _FieldLocation(f"/{name}", name, given.get(name) if converted else None)
    for field, inner in _nested_models(model):
        if field in given and (found := _locate_in_body(inner, option, given[field])):
            return found._replace(pointer=f"/{field}{found.pointer}")
    return None


def _nested_models(model: "type[RequestModel]") -> "Iterator[tuple[str, type[RequestModel]]]":
    from windlass.api.schema.requests import RequestModel

    for name, field in model.model_fields.items():
        for each in (field.annotation, *get_args(field.annotation)):
            if isinstance(each, type) and issubclass(each, RequestModel):
                yield name, each


def _rename_pointer(model: "type[RequestModel]", pointer: str) -> str:
    fields = {said: field for field, said in model.OPTIONS.items()}
    first, *rest = pointer.split("/")[1:] or [""]
    return "/".join(["", fields.get(first, first), *rest]) if first in fields else pointer


def _with_errors(error: WindlassError, errors: list[FieldError]) -> WindlassError:
    made = copy.copy(error)
    made.errors = tuple(errors)
    return made


def _error_at(pointer: str, error: FieldError) -> FieldError:
    return FieldError(pointer, error.message)
