"""Intervals and limits of live updates."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamIntervals:
    """The times and bounds of live updates."""

    #: Between two looks at the database; and at least so many times as long as a look took.
    look_seconds: float = 0.7
    look_rest: float = 20.0
    slowest_look_seconds: float = 5.0
    #: Between two messages to one client.
    message_seconds: float = 0.25
    #: After how much silence a comment tells that the connection lives.
    heartbeat_seconds: float = 15.0
    #: How often it is asked again whether the caller may listen, for how long streams of one credential
    #: share the answer, and how long it may take. A stream ends at most the sum of these after its
    #: credential or a right has gone.
    recheck_seconds: float = 5.0
    recheck_shared_seconds: float = 2.5
    recheck_timeout_seconds: float = 2.5
    #: How long a topic is looked at after its last listener left: time to come back and resume.
    linger_seconds: float = 30.0
    #: When a client whose connection broke should try again.
    retry_seconds: float = 2.0
    #: Changes kept for those who resume.
    kept_changes: int = 5_000
    #: Changes of one topic that may wait for one client; with more it has to read again.
    waiting_changes: int = 200
    #: How long a request may wait for the end of a job, whatever it asks for.
    wait_seconds: float = 60.0
    #: Streams, and requests that wait, open at once in this process: of one caller, of one tenant, and of all.
    streams_per_caller: int = 20
    streams_per_tenant: int = 200
    streams: int = 2_000
