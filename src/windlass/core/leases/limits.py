"""Limits: how many jobs may run at once, and how many may begin in a time; of all, and of each key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from windlass.core.leases.gates import counted_by
from windlass.core.leases.lease import JobLine
from windlass.ids import QueueName

#: What is counted: jobs that run, or attempts that began within a rate's time.
LimitKind = Literal["running", "begun"]
#: What has room or has not: what is counted under which name.
CapacityKey = tuple[str, LimitKind]


class Limit(NamedTuple):
    """Limit of a definition, tenant or queue, named for it: `definition:mail.send`."""

    name: str
    max_running: int | None = None
    max_per_key: int | None = None
    rate_count: int | None = None
    rate_seconds: float | None = None
    key_rate_count: int | None = None
    key_rate_seconds: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Limit":
        return cls(*(row[name] for name in cls._fields))

    @property
    def target(self) -> tuple[str, str | None, str | None, str | None, bool]:
        """Its name, the definition, tenant or queue it is about, and whether keys are counted too."""
        kind, _, who = self.name.partition(":")
        whose = [who if kind == each else None for each in ("definition", "tenant", "queue")]
        return self.name, *whose, self.max_per_key is not None  # type: ignore[return-value]  # three

    def capacities(self, line: JobLine) -> Iterator[tuple[str, LimitKind, int]]:
        """Capacities that a job of a line uses, and the size of each."""
        if self.max_running is not None:
            yield self.name, "running", self.max_running
        if self.rate_count is not None:
            yield self.name, "begun", self.rate_count
        if (key := counted_by(line.gate)) is None:
            return
        if self.max_per_key is not None:
            yield key, "running", self.max_per_key
        if self.key_rate_count is not None:
            yield key, "begun", self.key_rate_count

    def rates(self, gate: str) -> Iterator[tuple[str, float]]:
        """The rates that a job behind a gate begins under, and the time of each."""
        if self.rate_seconds is not None:
            yield self.name, self.rate_seconds
        if self.key_rate_seconds is not None and (key := counted_by(gate)) is not None:
            yield key, self.key_rate_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Settings of a queue: whether it is paused, by whom and why, and its limit."""

    name: QueueName
    paused_at: datetime | None = None
    paused_by: str | None = None
    #: What the token that paused it is called, if it was one.
    paused_by_name: str | None = None
    pause_reason: str | None = None
    max_concurrency: int | None = None
