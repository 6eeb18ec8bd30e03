"""Intervals and limits of live updates."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamIntervals:
    """Intervals and limits of live updates."""

    #: Time between two polls; and at least this multiple of a poll's duration.
    look_seconds: float = 0.7
    look_rest: float = 20.0
    slowest_look_seconds: float = 5.0
    #: Time between two messages to one client.
    message_seconds: float = 0.25
    #: Silence after which a comment keeps the connection alive.
    heartbeat_seconds: float = 15.0
    #: Interval of permission checks, how long streams of one credential share the result, and the
    #: timeout of a check. A stream ends at most the sum of these after its credential or a right
    #: is revoked.
    recheck_seconds: float = 5.0
    recheck_shared_seconds: float = 2.5
    recheck_timeout_seconds: float = 2.5
    #: How long a topic is polled after its last listener left, so that a client can resume.
    linger_seconds: float = 30.0
    #: Delay before a disconnected client should reconnect.
    retry_seconds: float = 2.0
    #: Changes kept for clients that resume.
    kept_changes: int = 5_000
    #: Pending changes of one topic for one client; above this it must read again.
    waiting_changes: int = 200
    #: Longest time a request may wait for a job to end, whatever timeout it requests.
    wait_seconds: float = 60.0
    #: Open streams and waiting requests in this process: per caller, per tenant, in total.
    streams_per_caller: int = 20
    streams_per_tenant: int = 200
    streams: int = 2_000
