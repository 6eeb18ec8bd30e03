"""Paged lists: `limit` and `cursor` in, `items` and `next_cursor` out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from windlass.api.access.callers import CurrentCaller
from windlass.api.routing import Depends, Query, Request
from windlass.api.schema.cursors import Cursors
from windlass.core.jobs.models import Scope

#: The largest row number that every database can compare.
LAST_NUMBER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Paging:
    """Start and length of a page."""

    limit: int
    after: str | None
    _cursors: Cursors
    _list: str
    _scope: Scope

    def page(self, items: Sequence[Any], next: object | None) -> dict[str, Any]:
        """A page and the cursor of the next one (null at the end)."""
        cursor = None
        if next is not None:
            cursor = self._cursors.make(next, list=self._list, scope=self._scope)
        return {"items": list(items), "next_cursor": cursor}

    def cut(self, items: Sequence[Any], key: Callable[[Any], str]) -> dict[str, Any]:
        """Cut a page from a complete list, ordered by key."""
        return self.first([i for i in items if self.after is None or key(i) > self.after], key)

    def first(self, items: Sequence[Any], key: Callable[[Any], str]) -> dict[str, Any]:
        """Cut a page from what follows `after`: one item more than `limit` says that there is more."""
        more = len(items) > self.limit
        return self.page(items[: self.limit], key(items[self.limit - 1]) if more else None)


async def _paging(
    request: Request,
    caller: CurrentCaller,
    limit: Annotated[int, Query(ge=1, le=500, description="Largest number of items.")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=500, description="The `next_cursor` of the previous page.")
    ] = None,
) -> Paging:
    cursors: Cursors = request.app.state.cursors
    # A cursor is valid only for the same filters.
    filters = sorted(item for item in request.query_params.multi_items() if item[0] not in _OWN)
    name = f"{request.scope['route'].path} {filters}"
    after = None if cursor is None else cursors.read(cursor, list=name, scope=caller.scope)
    return Paging(limit, after, cursors, name, caller.scope)


_OWN = ("limit", "cursor")

PageQuery = Annotated[Paging, Depends(_paging)]
