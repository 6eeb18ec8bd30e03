"""Live feed: polls each subscribed topic once for all listeners, and sends them the changes.

Writes nothing: changes are found by comparing two polls. It works across any number of processes
and costs nothing without listeners.
"""

import asyncio
import contextlib
import secrets
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from windlass import clock
from windlass.api.live.changes import Audience, SnapshotHistory, StreamChange
from windlass.api.live.intervals import StreamIntervals
from windlass.api.live.pollers import POLLERS, TopicPoller
from windlass.api.live.rechecks import PermissionRechecks
from windlass.api.live.subscription import Subscription
from windlass.core.jobs.models import Scope
from windlass.engine.engine import Engine
from windlass.errors import StreamsFull

#: Least time between polls that new listeners wait for.
_BATCH_SECONDS = 0.05


@dataclass(slots=True)
class _WatchedTopic:
    """A topic with listeners, or whose last listener has just left."""

    listeners: int = 0
    left_at: float = 0.0
    #: Sequence from which all its changes are published; None before the first poll.
    since: int | None = None


class LiveFeed:
    """Numbers and publishes changes. An event's id is `epoch` and its number."""

    def __init__(self, pace: StreamIntervals) -> None:
        self.pace = pace
        self.quota = StreamQuota(pace)
        self.rechecks = PermissionRechecks(pace)
        self.epoch = secrets.token_hex(4)
        self.sequence = 0
        self._kept: deque[tuple[int, StreamChange]] = deque(maxlen=pace.kept_changes)
        self._topics: dict[str, _WatchedTopic] = {}
        self._listeners: defaultdict[str | None, set[Subscription]] = defaultdict(set)
        self._history = SnapshotHistory()
        self._due: dict[TopicPoller, float] = {}
        self._new_listener = asyncio.Event()
        self._polling: asyncio.Task[None] | None = None
        self._ended = False

    def subscribe(
        self, engine: Engine, topics: frozenset[str], scope: Scope, *, last_id: str | None = None
    ) -> Subscription:
        """Subscribe to topics, from `last_id` on if it is known. The caller closes it."""
        subscription = Subscription(
            topics,
            scope,
            sequence=self.sequence,
            most=self.pace.waiting_changes,
            leave=self._unsubscribe,
        )
        if self._ended:
            subscription.end()
            return subscription
        if last_id is not None:
            self._resume(subscription, last_id)
        for topic in topics:
            watched = self._topics.setdefault(topic, _WatchedTopic())
            watched.listeners += 1
        fresh = {topic for topic in topics if self._topics[topic].since is None}
        subscription.wait_for_first_poll(fresh)
        self._listeners[scope.tenant].add(subscription)
        self._trigger_polls(engine, fresh)
        return subscription

    def end(self) -> None:
        """End all streams at once; new ones end immediately."""
        self._ended = True
        for subscription in list(self._all_subscriptions()):
            subscription.end()
        if self._polling is not None:
            self._polling.cancel()

    async def ended(self) -> None:
        """Wait until polling has stopped."""
        if self._polling is not None:
            await asyncio.gather(self._polling, return_exceptions=True)

    def _unsubscribe(self, subscription: Subscription) -> None:
        listeners = self._listeners[subscription.scope.tenant]
        if subscription in listeners:
            listeners.discard(subscription)
            for topic in subscription.topics:
                self._topics[topic].listeners -= 1
                self._topics[topic].left_at = clock.monotonic()
        if not listeners:
            del self._listeners[subscription.scope.tenant]

    def _resume(self, subscription: Subscription, last_id: str) -> None:
        last = self._parse_id(last_id)
        missed = {topic for topic in subscription.topics if not self._can_replay(topic, last)}
        subscription.resume(missed, delivered=self.sequence if last is None else last)
        if last is None:
            return
        resumed = subscription.topics - missed
        for sequence, change in self._kept:
            if (
                sequence > last
                and change.place.topic in resumed
                and _is_visible(change, subscription)
            ):
                subscription.put(change, sequence)

    def _parse_id(self, id: str) -> int | None:
        """The number of an id; None if it is too old or from another process."""
        epoch, _, number = id.partition("-")
        if epoch != self.epoch or not number.isascii() or not number.isdigit():
            return None
        oldest = self._kept[0][0] if self._kept else self.sequence + 1
        last = int(number[:20])
        return last if oldest - 1 <= last <= self.sequence else None

    def _can_replay(self, topic: str, last: int | None) -> bool:
        watched = self._topics.get(topic)
        if last is None or watched is None or watched.since is None:
            return False
        return watched.since <= last

    def _trigger_polls(self, engine: Engine, fresh: Collection[str]) -> None:
        for poller in POLLERS:
            if any(poller.serves(topic) for topic in fresh):
                self._due[poller] = 0.0
                self._new_listener.set()
        if self._polling is None or self._polling.done():
            self._polling = engine.background.start(self._run(engine))

    async def _run(self, engine: Engine) -> None:
        while self._topics:
            for poller in POLLERS:
                topics = [topic for topic in self._topics if poller.serves(topic)]
                if topics and self._due.get(poller, 0.0) <= clock.monotonic():
                    await self._poll(engine, poller, topics)
            self._forget()
            await asyncio.sleep(_BATCH_SECONDS)
            await self._sleep()

    async def _sleep(self) -> None:
        # Only pollers with listeners: the due times of the others are long past.
        slowest = clock.monotonic() + self.pace.slowest_look_seconds
        until = min(
            (self._due.get(poller, 0.0) for poller in self._active_pollers()), default=slowest
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, until - clock.monotonic())):
                await self._new_listener.wait()
        self._new_listener.clear()

    def _active_pollers(self) -> list[TopicPoller]:
        return [poller for poller in POLLERS if any(poller.serves(topic) for topic in self._topics)]

    async def _poll(self, engine: Engine, poller: TopicPoller, topics: Collection[str]) -> None:
        """Poll once. If the database fails, the next poll finds the missed changes."""
        began = clock.monotonic()
        # A listener that arrives meanwhile sets it to now again.
        self._due[poller] = began + self.pace.slowest_look_seconds
        try:
            last = {topic: self._history.last(topic) for topic in topics}
            for topic, (snapshot, whole, audience) in (await poller.read(engine, last)).items():
                self._publish(
                    self._history.changes(topic, snapshot, whole=whole, audience=audience)
                )
                self._mark_polled(topic)
        except Exception as error:  # noqa: BLE001  streams survive any failed poll
            engine.telemetry.trouble("polling for live updates", error)
            return
        duration = clock.monotonic() - began
        rest = min(
            max(self.pace.look_seconds, duration * self.pace.look_rest),
            self.pace.slowest_look_seconds,
        )
        self._due[poller] = min(self._due[poller], began + rest)

    def _publish(self, changes: Iterable[StreamChange]) -> None:
        for change in changes:
            self.sequence += 1
            self._kept.append((self.sequence, change))
            for subscription in self._audience(change.place.audience):
                if change.place.topic in subscription.topics:
                    subscription.put(change, self.sequence)

    def _audience(self, audience: Audience) -> Iterable[Subscription]:
        if audience.tenant is None:
            return self._all_subscriptions()
        listeners = self._listeners.get(audience.tenant, ())
        return (*listeners, *self._listeners.get(None, ())) if audience.overseers else listeners

    def _all_subscriptions(self) -> Iterable[Subscription]:
        return (each for listeners in self._listeners.values() for each in listeners)

    def _mark_polled(self, topic: str) -> None:
        watched = self._topics.get(topic)
        if watched is not None and watched.since is None:
            watched.since = self.sequence
            for subscription in self._all_subscriptions():
                if topic in subscription.topics:
                    subscription.mark_polled(topic, self.sequence)

    def _forget(self) -> None:
        """Stop polling topics that have had no listener for a while."""
        before = clock.monotonic() - self.pace.linger_seconds
        gone = [
            topic
            for topic, each in self._topics.items()
            if not each.listeners and each.left_at < before
        ]
        for topic in gone:
            del self._topics[topic]
        self._history.forget(gone)
        self._due = {
            poller: due
            for poller, due in self._due.items()
            if any(poller.serves(topic) for topic in self._topics)
        }


def _is_visible(change: StreamChange, subscription: Subscription) -> bool:
    audience, tenant = change.place.audience, subscription.scope.tenant
    if tenant is None:
        return audience.overseers
    return audience.tenant is None or audience.tenant == tenant


class StreamQuota:
    """Limits open streams per caller, per tenant and per process."""

    def __init__(self, pace: StreamIntervals) -> None:
        self._pace = pace
        self._taken: Counter[tuple[str, str]] = Counter()

    def take(self, caller: str | None, tenant: str | None) -> list[tuple[str, str]]:
        """Reserve a stream, to be given back; StreamsFull names the limit reached."""
        limits = {("this server", ""): self._pace.streams}
        if tenant is not None:
            limits["the tenant", tenant] = self._pace.streams_per_tenant
        if caller is not None:
            limits["the caller", caller] = self._pace.streams_per_caller
        for holder, most in limits.items():
            if self._taken[holder] >= most:
                raise StreamsFull(" ".join(holder).strip(), most=most)
        self._taken.update(list(limits))
        return list(limits)

    def give_back(self, reserved: list[tuple[str, str]]) -> None:
        self._taken.subtract(reserved)
        self._taken = +self._taken
