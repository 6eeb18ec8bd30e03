"""Time slots of charts, and the stored rows that make them up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

#: Lengths in seconds of the slots that upkeep makes of the minutes, each of the one before.
SPANS = (900, 7200)
MINUTE_SECONDS = 60
#: Histograms by the minute are kept no longer.
_MOST_MINUTES = 2 * 24 * 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StoredSlot(NamedTuple):
    """A slot with rows of its own: its length in seconds, and when it began."""

    span: int
    at: datetime


@dataclass(frozen=True, slots=True)
class SlotPlan:
    """The rows to read for a time since an instant: the slots made so far, and minutes after them.

    `slot` is the length of the slots to show.
    """

    since: datetime
    until: datetime
    slot: timedelta
    made: Sequence[StoredSlot]
    minutes_since: datetime

    @property
    def all_slots(self) -> Sequence[StoredSlot]:
        """The slots made so far, and every minute after them."""
        span = timedelta(seconds=MINUTE_SECONDS)
        first = max(slot_of(self.minutes_since, span), self.until - _MOST_MINUTES * span)
        minutes = int((self.until - first) // span) + 1
        return [*self.made, *(StoredSlot(60, first + n * span) for n in range(minutes))]

    def begin(self, at: datetime) -> datetime:
        """The beginning of the slot that an instant belongs to."""
        return slot_of(at, self.slot)


def slot_of(at: datetime, slot: timedelta) -> datetime:
    """The beginning of the slot of an instant; slots are counted from 1970."""
    return _EPOCH + (at - _EPOCH) // slot * slot


def plan_slots(
    since: datetime, now: datetime, slot: timedelta, marks: Mapping[int, datetime]
) -> SlotPlan:
    """Choose the longest slots that were made and fit. `marks` has until when those of each length
    are made. Where slots are used, the time begins with one: up to a quarter of an hour earlier."""
    fitting = [
        timedelta(seconds=span)
        for span in sorted(SPANS, reverse=True)
        if slot % timedelta(seconds=span) == timedelta()
    ]
    made: list[StoredSlot] = []
    cursor = since
    if fitting and slot_of(since, fitting[-1]) + fitting[-1] <= _made_until(marks, fitting[-1]):
        cursor = slot_of(since, fitting[-1])
    while True:
        span = next(
            (
                span
                for span in fitting
                if slot_of(cursor, span) == cursor
                and cursor + span <= min(now, _made_until(marks, span))
            ),
            None,
        )
        if span is None:
            return SlotPlan(since, now, slot, made, cursor)
        made.append(StoredSlot(int(span.total_seconds()), cursor))
        cursor += span


def _made_until(marks: Mapping[int, datetime], span: timedelta) -> datetime:
    return marks.get(int(span.total_seconds()), _EPOCH)
