"""A change of a job that waits: its priority, its queue, when it is due, its own fields."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from windlass.core.durations import duration
from windlass.core.instants import instant as checked_instant
from windlass.core.jobs.dedupe import check_name
from windlass.core.jobs.priority import priority as checked_priority
from windlass.core.payloads.json_text import dump_json, load_json, size_of
from windlass.errors import OptionInvalid
from windlass.ids import QueueName

_ALLOWED = "at least one of priority, queue, at, delay and metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """Change of waiting jobs; a field that is None stays as it is.

    `metadata` is JSON text, and all of it: fields that are not in it are gone. A `delay` is one
    from the moment that the change is made, and becomes a due time then.
    """

    priority: int | None = None
    queue: QueueName | None = None
    due_at: datetime | None = None
    delay: timedelta | None = None
    metadata: str | None = None

    @classmethod
    def of(
        cls,
        *,
        priority: int | str | None = None,
        queue: str | None = None,
        at: datetime | None = None,
        delay: str | timedelta | float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> "JobChange":
        """A change of what is given; OptionInvalid if that is nothing, or cannot be."""
        made = cls(
            priority=None if priority is None else checked_priority(priority),
            queue=None if queue is None else QueueName(check_name("queue", queue)),
            due_at=None if at is None else checked_instant("at", at),
            delay=None if delay is None else duration(delay, option="delay"),
            metadata=None if metadata is None else metadata_text(metadata),
        )
        if made == cls():
            raise OptionInvalid("change", "nothing", allowed=_ALLOWED)
        if made.due_at is not None and made.delay is not None:
            allowed = "either a delay or a time, not both"
            raise OptionInvalid("at", made.due_at.isoformat(), allowed=allowed)
        return made

    def begun(self, now: datetime) -> "JobChange":
        """The same from this moment on: with a due time in place of a delay."""
        if self.delay is None:
            return self
        return replace(self, due_at=now + self.delay, delay=None)

    def plain(self) -> dict[str, Any]:
        """As JSON knows it; `read` makes the same of it again. Not for one with a delay."""
        from windlass.core.wire import instant

        told = {
            "priority": self.priority,
            "queue": self.queue,
            "due_at": None if self.due_at is None else instant(self.due_at),
            "metadata": None if self.metadata is None else load_json(self.metadata),
        }
        return {name: value for name, value in told.items() if value is not None}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> "JobChange":
        at = plain.get("due_at")
        return cls.of(
            priority=plain.get("priority"),
            queue=plain.get("queue"),
            at=None if at is None else datetime.fromisoformat(at),
            metadata=plain.get("metadata"),
        )


#: Bytes.
_MOST = 16 * 1024


def metadata_text(value: object) -> str:
    """JSON text of an object of names and values, if it can be stored and is not too large."""
    if not isinstance(value, Mapping):
        raise OptionInvalid("metadata", value, allowed="an object of names and values")
    text = dump_json(dict(value), what="metadata")
    if (size := size_of(text)) > _MOST:
        raise OptionInvalid("metadata", f"{size:,} bytes", allowed=f"at most {_MOST:,}")
    return text
