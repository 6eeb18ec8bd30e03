"""Snapshots of topics, their audience, and the changes between two."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from windlass.core.payloads.json_text import dump_json


class Audience(NamedTuple):
    """Audience of a change: callers of a tenant (None: any), callers for all tenants, or both."""

    tenant: str | None
    overseers: bool = True


ALL_TENANTS_AUDIENCE = Audience(None)
#: Callers that see all tenants. No tenant has this id.
OVERSEERS = Audience("")


class StreamEntryKey(NamedTuple):
    """Key of an entry in a topic; a later value replaces the earlier one."""

    topic: str
    audience: Audience
    key: str


class StreamChange(NamedTuple):
    """New value of an entry, as JSON text; None if the topic has too many changes to list."""

    place: StreamEntryKey
    text: str | None


#: Entry -> its data for clients, and a mark that is only compared, to detect changes. An entry
#: without data is never sent.
Snapshot = Mapping[StreamEntryKey, tuple[Mapping[str, Any], object]]


class PollResult(NamedTuple):
    """Snapshot of a topic; not `whole` if more rows may exist than were read, and then the audience
    that has to read again if they do."""

    seen: Snapshot
    whole: bool = True
    audience: Audience = ALL_TENANTS_AUDIENCE


class SnapshotHistory:
    """The last snapshot of each topic, for comparison with the next."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[StreamEntryKey, tuple[Mapping[str, Any], object]]] = {}

    def last(self, topic: str) -> Snapshot:
        """The last snapshot of a topic; empty before the first."""
        return self._seen.get(topic, {})

    def changes(
        self,
        topic: str,
        snapshot: Snapshot,
        *,
        whole: bool,
        audience: Audience = ALL_TENANTS_AUDIENCE,
    ) -> list[StreamChange]:
        """Changes of a topic since its last snapshot; none for the first one, because new clients
        read the data themselves. `whole`: an entry missing from the snapshot was removed. If two
        snapshots of a topic that is not whole share no entry, its `audience` has to read again."""
        before = self._seen.get(topic)
        self._seen[topic] = dict(snapshot)
        if before is None:
            return []
        if not whole and before and before.keys().isdisjoint(snapshot):
            return [StreamChange(StreamEntryKey(topic, audience, ""), None)]
        return [
            *_changed_entries(before, snapshot),
            *(_removed_entries(before, snapshot) if whole else ()),
        ]

    def forget(self, topics: Collection[str]) -> None:
        for topic in topics:
            self._seen.pop(topic, None)


def _changed_entries(before: Snapshot, snapshot: Snapshot) -> Iterable[StreamChange]:
    for place, now in snapshot.items():
        if now[0] and before.get(place) != now:
            yield StreamChange(place, dump_json({"topic": place.topic, **now[0]}))


def _removed_entries(before: Snapshot, snapshot: Snapshot) -> Iterable[StreamChange]:
    for place in before.keys() - snapshot.keys():
        yield StreamChange(place, dump_json({"topic": place.topic, "key": place.key, "gone": True}))
