"""Pending changes of one client, in bounded memory."""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from typing import Literal, NamedTuple

from windlass.api.live.changes import StreamChange, StreamEntryKey
from windlass.core.jobs.models import Scope


class Message(NamedTuple):
    """A message to a client: `ready`, `reset` or `changes`, and the sequence number reached."""

    event: str
    sequence: int
    topics: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    resumed: bool = False


class Subscription:
    """Collects changes until they are fetched. A later change of an entry replaces the earlier."""

    def __init__(
        self,
        topics: frozenset[str],
        scope: Scope,
        *,
        sequence: int,
        most: int,
        leave: "Callable[[Subscription], None]",
    ) -> None:
        self.topics = topics
        self.scope = scope
        self._sequence = self._delivered = sequence
        self._most = most
        self._leave = leave
        self._greeting: Literal["ready", "resumed"] | None = "ready"
        self._unpolled: set[str] = set()
        self._missed: set[str] = set()
        self._pending: dict[str, dict[StreamEntryKey, str]] = {}
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    @property
    def idle(self) -> bool:
        """True if the client has received everything."""
        return not (self._unpolled or self._greeting or self._missed or self._pending)

    def wait_for_first_poll(self, topics: Collection[str]) -> None:
        """Send `ready` only after these topics were polled, so that later changes are delivered."""
        self._unpolled.update(topics)

    def resume(self, missed: Collection[str], *, delivered: int) -> None:
        """Resume a client that received everything up to `delivered`, except `missed` topics."""
        self._delivered = delivered
        self._missed.update(missed)
        self._greeting = None if missed else "resumed"

    def mark_polled(self, topic: str, sequence: int) -> None:
        self._unpolled.discard(topic)
        self._sequence = sequence
        self._changed.set()

    def put(self, change: StreamChange, sequence: int) -> None:
        """Keep a change for the client; too many in a topic become a `reset`."""
        self._sequence = max(self._sequence, sequence)
        topic = change.place.topic
        if topic in self._missed:
            return
        pending = self._pending.setdefault(topic, {})
        if change.text is not None:
            pending.pop(change.place, None)
            pending[change.place] = change.text
        if change.text is None or len(pending) > self._most:
            del self._pending[topic]
            self._missed.add(topic)
        self._changed.set()

    async def next(self, timeout: float) -> Message | None:
        """The next message; None after the timeout or when the stream has ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not self.ended:
                    if message := self._take():
                        return message
                    self._changed.clear()
                    await self._changed.wait()
        return None

    async def pause(self, seconds: float) -> None:
        """Sleep, but return early when the stream ends."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    def end(self) -> None:
        """End the client's task. Pending changes are dropped."""
        self._ended.set()
        self._changed.set()

    def close(self) -> None:
        self.end()
        self._leave(self)

    def _take(self) -> Message | None:
        if self._unpolled:
            return None
        if self._greeting is not None:
            resumed, self._greeting = self._greeting == "resumed", None
            return Message(
                "ready", self._delivered_sequence(), tuple(sorted(self.topics)), resumed=resumed
            )
        if self._missed:
            missed, self._missed = tuple(sorted(self._missed)), set()
            return Message("reset", self._delivered_sequence(), missed)
        if self._pending:
            texts = tuple(text for each in self._pending.values() for text in each.values())
            self._pending = {}
            return Message("changes", self._delivered_sequence(), changes=texts)
        return None

    def _delivered_sequence(self) -> int:
        """Sequence up to which the client has everything once it receives this message."""
        if not self._pending:
            self._delivered = self._sequence
        return self._delivered
