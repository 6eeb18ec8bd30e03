"""What was seen, whom it concerns, and what of it is new."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from windlass.core.payloads.json_text import dump_json


class Audience(NamedTuple):
    """Who may see something: those of a tenant (None: of any), those who see all tenants, or both."""

    tenant: str | None
    overseers: bool = True


EVERYBODY = Audience(None)
#: Those who see all tenants. No tenant has this id.
OVERSEERS = Audience("")


class Place(NamedTuple):
    """Where something is seen: what is seen there later takes its place."""

    topic: str
    audience: Audience
    key: str


class Change(NamedTuple):
    """Something new at a place, as JSON text; None: too much is new in the topic to tell."""

    place: Place
    text: str | None


#: What is at each place: what is told of it, and a mark that only tells whether it is the same.
Seen = Mapping[Place, tuple[Mapping[str, Any], object]]


class Picture:
    """What was last seen, to be compared with."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[Place, tuple[Mapping[str, Any], object]]] = {}

    def changes(self, topic: str, seen: Seen, *, whole: bool) -> list[Change]:
        """What is new in a topic. The first look at one tells nothing: whoever listens reads for
        themselves. `whole` means that what is not seen is not there."""
        before = self._seen.get(topic)
        self._seen[topic] = dict(seen)
        if before is None:
            return []
        if not whole and before and before.keys().isdisjoint(seen):
            return [Change(Place(topic, EVERYBODY, ""), None)]
        return [*_new(before, seen), *(_gone(before, seen) if whole else ())]

    def forget(self, topics: Collection[str]) -> None:
        for topic in topics:
            self._seen.pop(topic, None)


def _new(before: Seen, seen: Seen) -> Iterable[Change]:
    for place, now in seen.items():
        if before.get(place) != now:
            yield Change(place, dump_json({"topic": place.topic, **now[0]}))


def _gone(before: Seen, seen: Seen) -> Iterable[Change]:
    for place in before.keys() - seen.keys():
        yield Change(place, dump_json({"topic": place.topic, "key": place.key, "gone": True}))
