"""Roll-ups: longer slots made of the minutes, so that a chart of a week reads few rows."""

from datetime import datetime, timedelta

from windlass.core.monitoring.series import Window
from windlass.core.monitoring.slots import (
    MINUTE_SECONDS,
    SPANS,
    SlotPlan,
    StoredSlot,
    plan_slots,
    slot_of,
)
from windlass.core.monitoring.summary import WINDOWS, time_slots
from windlass.errors import OptionInvalid
from windlass.storage.storage import Storage

#: So long after its end a slot is made: workers have stored their latencies by then.
_GRACE = timedelta(seconds=60)
#: Slots of one length that a round makes at most.
_MOST_AT_ONCE = 100


class Rollups:
    """Any number of processes may do this at once: making a slot twice makes it the same."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def tick(self) -> int:
        """Note the use of workers, and make the slots that have passed. Returns their number."""
        await self._storage.monitoring.record_worker_use()
        now = await self._storage.now()
        marks = await self._storage.monitoring.rollup_marks()
        made, of_span, ready = 0, MINUTE_SECONDS, now - _GRACE
        for span in SPANS:
            mark = marks.get(span) or await self._first(span)
            if mark is None:
                break
            begun = span in marks
            until = min(slot_of(ready, timedelta(seconds=span)), _after(mark, span, _MOST_AT_ONCE))
            if until > mark:
                # The one before is made again: it may have missed what was stored late.
                begin = _after(mark, span, -1) if begun else mark
                made += await self._make(span, of_span, begin, until)
                mark = until
            of_span, ready = span, mark
        return made

    async def _first(self, span: int) -> datetime | None:
        first = await self._storage.monitoring.first_minute()
        return None if first is None else slot_of(first, timedelta(seconds=span))

    async def _make(self, span: int, of_span: int, begin: datetime, until: datetime) -> int:
        slots = (until - begin) // timedelta(seconds=span)
        for number in range(slots):
            slot = StoredSlot(span, _after(begin, span, number))
            await self._storage.monitoring.roll_up_slot(slot, of_span=of_span)
        await self._storage.monitoring.set_rollup_mark(span, until)
        return slots


def _after(at: datetime, span: int, slots: int) -> datetime:
    return at + slots * timedelta(seconds=span)


async def plan_window(storage: Storage, window: str) -> SlotPlan:
    """The rows that a window up to now is made of. OptionInvalid if there is no such window."""
    return (await read_window(storage, window)).plan


async def read_window(storage: Storage, window: str) -> Window:
    """A window up to now, and the rows it is made of."""
    if window not in WINDOWS:
        raise OptionInvalid("window", window, allowed=", ".join(WINDOWS))
    now = await storage.now()
    _, slot = WINDOWS[window]
    marks = await storage.monitoring.rollup_marks()
    begins = time_slots(window, now)
    return Window(window, plan_slots(begins[0], now, slot, marks), begins)
