"""When a change of waiting jobs begins: by the database's clock, and not in the past."""

from datetime import timedelta

from windlass.core.jobs.change import JobChange
from windlass.errors import OptionInvalid
from windlass.storage.storage import Storage

#: A due time may be so old: the caller's clock is not the database's.
PAST = timedelta(minutes=1)


async def begun(storage: Storage, change: JobChange) -> JobChange:
    """A change as it can be made at any time from now on; refused if its due time is past."""
    if change.due_at is None and change.delay is None:
        return change
    now = await storage.now()
    if change.due_at is not None and change.due_at < now - PAST:
        allowed = "a time from now on"
        raise OptionInvalid("at", change.due_at.isoformat(), allowed=allowed)
    return change.begun(now)
