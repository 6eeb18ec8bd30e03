"""Queues: named lines of jobs."""

from dataclasses import dataclass
from datetime import datetime

from windlass.ids import QueueName


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What was said about a queue: whether it is paused, by whom and why, and its limit."""

    name: QueueName
    paused_at: datetime | None = None
    paused_by: str | None = None
    #: What the token that paused it is called, if it was one.
    paused_by_name: str | None = None
    pause_reason: str | None = None
    max_concurrency: int | None = None
