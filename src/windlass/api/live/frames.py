"""Sends live updates as `text/event-stream` until client, server or permission is gone."""

from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from windlass import clock
from windlass.api.live.feed import LiveFeed
from windlass.api.live.subscription import Message, Subscription
from windlass.core.payloads.json_text import dump_json, printable_json

_HEADERS = {
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # stops nginx from buffering events
}


class EventStream(StreamingResponse):
    """Response that streams a subscription. Always calls `close` at its end."""

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: LiveFeed,
        subscription: Subscription,
        *,
        still_may: Callable[[], Awaitable[bool]],
        close: Callable[[], None],
    ) -> None:
        super().__init__(_frames(feed, subscription, still_may), headers=_HEADERS)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._close()


async def _frames(
    feed: LiveFeed, subscription: Subscription, still_may: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    pace = feed.pace
    yield f"retry: {round(pace.retry_seconds * 1000)}\n\n"
    check_at = clock.monotonic() + pace.recheck_seconds
    beat_at = clock.monotonic() + pace.heartbeat_seconds
    while not subscription.ended:
        message = await subscription.next(max(0.0, min(beat_at, check_at) - clock.monotonic()))
        if clock.monotonic() >= check_at:
            if not await still_may():
                return
            check_at = clock.monotonic() + pace.recheck_seconds
        if message is not None:
            yield _frame(feed.epoch, message)
            await subscription.pause(pace.message_seconds)
            beat_at = clock.monotonic() + pace.heartbeat_seconds
        elif clock.monotonic() >= beat_at and not subscription.ended:
            # An id without data is no event, but advances the client's resume position.
            reached = f"id: {feed.epoch}-{feed.sequence}\n" if subscription.idle else ""
            yield f": still here\n{reached}\n"
            beat_at = clock.monotonic() + pace.heartbeat_seconds


def _frame(epoch: str, message: Message) -> str:
    match message.event:
        case "changes":
            data = f'{{"changes":[{",".join(message.changes)}]}}'
        case "ready":
            data = dump_json({"topics": message.topics, "resumed": message.resumed})
        case _:
            data = dump_json({"topics": message.topics})
    return (
        f"id: {epoch}-{message.sequence}\nevent: {message.event}\ndata: {printable_json(data)}\n\n"
    )
