"""The live feed as a parameter of routes, without importing its implementation."""

from typing import TYPE_CHECKING, Annotated

from windlass.api.routing import Depends, Request

if TYPE_CHECKING:
    from windlass.api.live.feed import LiveFeed


async def _feed(request: Request) -> "LiveFeed":
    feed: LiveFeed = request.app.state.feed
    return feed


CurrentFeed = Annotated["LiveFeed", Depends(_feed)]
