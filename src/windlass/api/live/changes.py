"""Snapshots of topics, their audience, and the changes between two."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from windlass.core.payloads.json_text import dump_json


class Audience(NamedTuple):
    """The audience of a change: those of a tenant (None: of any), those who see all tenants, or both."""

    tenant: str | None
    overseers: bool = True


ALL_TENANTS_AUDIENCE = Audience(None)
#: Those who see all tenants. No tenant has this id.
OVERSEERS = Audience("")


class StreamEntryKey(NamedTuple):
    """Where something is seen: what is seen there later takes its place."""

    topic: str
    audience: Audience
    key: str


class StreamChange(NamedTuple):
    """Something new at a place, as JSON text; None: too much is new in the topic to tell."""

    place: StreamEntryKey
    text: str | None


#: What is at each place: what is told of it, and a mark that only tells whether it is the same.
Snapshot = Mapping[StreamEntryKey, tuple[Mapping[str, Any], object]]


class SnapshotHistory:
    """The last snapshots, to compare the next with."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[StreamEntryKey, tuple[Mapping[str, Any], object]]] = {}

    def changes(self, topic: str, seen: Snapshot, *, whole: bool) -> list[StreamChange]:
        """The changes in a topic. The first snapshot at one tells nothing: whoever listens reads for
        themselves. `whole` means that what is not seen is not there."""
        before = self._seen.get(topic)
        self._seen[topic] = dict(seen)
        if before is None:
            return []
        if not whole and before and before.keys().isdisjoint(seen):
            return [StreamChange(StreamEntryKey(topic, ALL_TENANTS_AUDIENCE, ""), None)]
        return [*_changed_entries(before, seen), *(_removed_entries(before, seen) if whole else ())]

    def forget(self, topics: Collection[str]) -> None:
        for topic in topics:
            self._seen.pop(topic, None)


def _changed_entries(before: Snapshot, seen: Snapshot) -> Iterable[StreamChange]:
    for place, now in seen.items():
        if before.get(place) != now:
            yield StreamChange(place, dump_json({"topic": place.topic, **now[0]}))


def _removed_entries(before: Snapshot, seen: Snapshot) -> Iterable[StreamChange]:
    for place in before.keys() - seen.keys():
        yield StreamChange(place, dump_json({"topic": place.topic, "key": place.key, "gone": True}))
