"""Query parameters: refuses those that a route does not declare, and those given twice."""

import typing
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from windlass.errors import FieldError, RequestInvalid
from windlass.errors.wording import nearest, printable

#: A name that other APIs use -> what is meant here, where it is not spelled alike.
_SYNONYMS: Mapping[str, str] = {
    "status": "state",
    "offset": "cursor",
    "page": "cursor",
    "after": "cursor",
    "per_page": "limit",
    "page_size": "limit",
    "search": "q",
    "query": "q",
    "filter": "q",
    "type": "definition",
    "tenant_id": "tenant",
}
_SHOWN = 60


def check_query(request: Request) -> None:
    """Refuse a query with a parameter that the route does not take, or with one too often."""
    given = Counter(name for name, _ in request.query_params.multi_items())
    if not given:
        return
    known = parameters_of(request.scope["route"])
    found = [
        FieldError(f"?{printable(name[:_SHOWN])}", _problem(name, count, known))
        for name, count in given.items()
        if name not in known or (count > 1 and not known[name])
    ]
    if found:
        raise RequestInvalid(found)


def parameters_of(route: APIRoute) -> dict[str, bool]:
    """The query parameters that a route takes, and whether each may be given several times."""
    return dict(_declared(route.dependant))


def _declared(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    for field in dependant.query_params:
        yield field.alias, _is_list(field.field_info.annotation)
    for each in dependant.dependencies:
        yield from _declared(each)


def _is_list(annotation: Any) -> bool:
    return any(
        typing.get_origin(each) is list for each in (annotation, *typing.get_args(annotation))
    )


def _problem(name: str, count: int, known: Mapping[str, bool]) -> str:
    if name in known:
        return f"given {count} times; it takes one value"
    meant = _SYNONYMS.get(name.lower())
    near = meant if meant in known else nearest(name.lower(), list(known))
    if near:
        return f"not known (did you mean {near}?)"
    if not known:
        return "not known: this route takes no query parameters"
    return f"not known: this route takes {', '.join(sorted(known))}"
