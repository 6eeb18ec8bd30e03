"""Deadlines of calls to a database server, by lane and by what a call asks for.

A link can fall silent without an error: then only a deadline ends the wait. See decision 0020.
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
    "stream_activity", "add_operation_items", "has_superadmin", "registered_audit_chains", "cancel", "correct_counts",
    "count_open_jobs", "add_operation_counts", "state_counts", "dead_groups", "dead_tuples", "delete_tenant",
    "state_counts_by_dimension", "discard", "delete_definition", "revoke_tenant_access", "audit_entries", "audit_entries_after", "most_failing",
    "job_edges", "roll_up_counts", "acquire_limits_for_running", "latency_histograms", "key_holders", "register_audit_chain", "registered_audit_chain",
    "job_logs", "next_operation_items", "open_jobs_of_tenant", "operation_items", "old_snapshots", "prune", "prune_access",
    "prune_idempotency_keys", "prune_by_count", "prune_events", "prune_histograms", "prune_keys",
    "prune_logs", "prune_minute_counts", "prune_mutes", "prune_operations", "prune_orphaned_logs",
    "purge_tenant_jobs", "purge_tenant", "throughput", "recent_latency_histograms", "search_recent_logs", "recount",
    "move_to_current_gate", "replace", "replace_ciphertext", "retry", "run_now", "encrypted_payloads", "search_logs",
    "dead_group_details", "latest_log_volume", "latest_successes", "log_volume", "running_jobs", "stream_log_lines",
    "finish_operation_items", "state_counts_by_queue", "throughput_by_tenant", "lifetime_counts", "children_to_admit", "update", "visible_job_ids",
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
