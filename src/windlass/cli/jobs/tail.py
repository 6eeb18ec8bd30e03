"""Follows a list that is shown newest first: yields new items until the caller stops."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from itertools import islice
from typing import Any, NamedTuple

from windlass.cli.connect.api_client import Client, JsonObject

_SECONDS = 1.0
_PAGE = 100
#: The most pages read in one poll; items that arrive faster are left out.
_MOST_PAGES = 20
_REMEMBERED = 5_000


class TailedList(NamedTuple):
    """A list of the API, and the fields that tell its items apart."""

    at: str
    key: tuple[str, ...]
    params: dict[str, Any]


async def tail(api: Client, source: TailedList, *, last: int) -> AsyncIterator[JsonObject]:
    """Yield the `last` items, then each new one, oldest first, without end.

    An item that is stored late, behind others, is found while it is among the newest hundred.
    """
    items = (await api.get(source.at, limit=_PAGE, **source.params))["items"]
    seen = dict.fromkeys(_key(source, item) for item in reversed(items))
    for item in reversed(items[:last]):
        yield item
    while True:
        await asyncio.sleep(_SECONDS)
        fresh = await _new_items(api, source, seen)
        for item in reversed(fresh):
            seen[_key(source, item)] = None
            yield item
        for old in list(islice(seen, max(0, len(seen) - _REMEMBERED))):
            del seen[old]


async def _new_items(
    api: Client, source: TailedList, seen: dict[Hashable, None]
) -> list[JsonObject]:
    """The items not yet seen, from the newest page down to the first page with a seen one."""
    fresh: list[JsonObject] = []
    cursor = None
    for _ in range(_MOST_PAGES):
        page = await api.get(source.at, limit=_PAGE, cursor=cursor, **source.params)
        new = [item for item in page["items"] if _key(source, item) not in seen]
        fresh += new
        cursor = page["next_cursor"]
        if len(new) < len(page["items"]) or cursor is None:
            break
    return fresh


def _key(source: TailedList, item: JsonObject) -> Hashable:
    return tuple(item[field] for field in source.key)
