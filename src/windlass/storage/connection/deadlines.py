"""Deadlines of calls to a database server, by lane and by what a call asks for.

A link can fall silent with nobody told: then a deadline is all that ends the wait. See decision 0020.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from windlass.storage.database import Lane

#: For what work waits for: with a new connection made, work goes on within 15 seconds.
_USUAL = 10.0
#: For what takes the longer the more there is.
LONG = 60.0
#: For a connection to be made.
CONNECT = 5.0
#: A renewal that hangs leaves time for others while the lease lasts.
_LEASE_PARTS = 3
_SHORTEST = 0.5
#: So many jobs at once may take long to send.
_MANY_JOBS = 100
_LONG_VERBS = frozenset((
    "activity", "add_items", "administered", "audit_listed", "cancel", "correct_counts",
    "count_open", "count_operation", "counts", "dead_groups", "dead_rows", "delete_tenant",
    "depths", "discard", "drop_definition", "end_access", "entries", "entries_after", "failing",
    "family", "fold", "hold_running", "histograms", "key_holders", "list_chain", "listed_chain",
    "logs", "next_items", "open_jobs", "operation_items", "pinned", "prune", "prune_access",
    "prune_answers", "prune_count", "prune_events", "prune_histograms", "prune_keys",
    "prune_logs", "prune_minutes", "prune_mutes", "prune_operations", "prune_orphans",
    "purge_jobs", "purge_tenant", "rates", "recent_histograms", "recent_logs", "recount",
    "regate", "replace", "reseal", "retry", "run_now", "sealed_payloads", "search_logs",
    "settle_items", "tallies", "tenant_rates", "totals", "unchecked", "update", "visible",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Deadlines:
    """In seconds; `renew` is that of the lane which keeps leases alive."""

    renew: float = _USUAL

    @classmethod
    def following(cls, lease_time: timedelta | None) -> Self:
        """Those of a process whose leases last so long; of one without leases, the usual ones."""
        if lease_time is None:
            return cls()
        return cls(max(_SHORTEST, min(_USUAL, lease_time.total_seconds() / _LEASE_PARTS)))

    def usual(self, lane: Lane) -> float:
        """For a short call."""
        return self.renew if lane is Lane.RENEW else _USUAL

    def place(self, lane: Lane) -> float:
        """For a connection to come free."""
        return LONG if lane in (Lane.STORE, Lane.GENERAL) else self.usual(lane)

    def verb(self, lane: Lane, verb: str, params: Mapping[str, Any]) -> float:
        """For a verb with what it is given."""
        if lane is Lane.STORE and len(params.get("jobs", ())) >= _MANY_JOBS:
            return LONG
        return LONG if lane is Lane.GENERAL and verb in _LONG_VERBS else self.usual(lane)
