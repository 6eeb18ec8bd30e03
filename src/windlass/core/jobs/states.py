"""The states of a job, how attempts end, and the table of moves between states.

Storage, docs and every interface are checked against this table.
"""

from collections.abc import Mapping
from enum import StrEnum


class JobState(StrEnum):
    """State of a job, as stored."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELED = "canceled"
    DEAD_LETTER = "dead_letter"


class View(StrEnum):
    """A way of looking at a state, usable wherever a state filter is."""

    SCHEDULED = "scheduled"
    WAITING = "waiting"
    RETRYING = "retrying"


class Outcome(StrEnum):
    """Outcome of an attempt."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELED = "canceled"
    LOST = "lost"
    RELEASED = "released"


class Verb(StrEnum):
    """Verbs that move a job from one state to another."""

    ADMIT = "admit"
    CLAIM = "claim"
    FINISH = "finish"
    RELEASE = "release"
    REAP = "reap"
    CANCEL = "cancel"
    RETRY = "retry"
    RUN_NOW = "run_now"
    UPDATE = "update"
    CLOSE = "close"


PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState

OPEN = frozenset({PENDING, QUEUED, RUNNING})
ENDED = frozenset({COMPLETED, CANCELED, DEAD_LETTER})

#: (verb, state it finds) -> states it may lead to. A pair not listed changes nothing.
MOVES: Mapping[tuple[Verb, JobState], frozenset[JobState]] = {
    (Verb.ADMIT, PENDING): frozenset({QUEUED}),
    (Verb.CLAIM, QUEUED): frozenset({RUNNING}),
    (Verb.FINISH, RUNNING): frozenset({COMPLETED, QUEUED, CANCELED, DEAD_LETTER}),
    # Ends instead of queueing where a cancel was asked for or its tenant was closed.
    (Verb.RELEASE, RUNNING): frozenset({QUEUED, CANCELED, DEAD_LETTER}),
    (Verb.REAP, RUNNING): frozenset({QUEUED, CANCELED, DEAD_LETTER}),
    (Verb.CANCEL, PENDING): frozenset({CANCELED}),
    (Verb.CANCEL, QUEUED): frozenset({CANCELED}),
    (Verb.CANCEL, RUNNING): frozenset({RUNNING}),  # a request: the worker stops, then finishes
    (Verb.RETRY, CANCELED): frozenset({QUEUED}),
    (Verb.RETRY, DEAD_LETTER): frozenset({QUEUED}),
    (Verb.RUN_NOW, PENDING): frozenset({QUEUED}),  # only from a hold, not from parents
    (Verb.RUN_NOW, QUEUED): frozenset({QUEUED}),
    (Verb.UPDATE, PENDING): frozenset({PENDING}),
    (Verb.UPDATE, QUEUED): frozenset({QUEUED}),
    (Verb.CLOSE, PENDING): frozenset({DEAD_LETTER}),
    (Verb.CLOSE, QUEUED): frozenset({DEAD_LETTER}),
    (Verb.CLOSE, RUNNING): frozenset({RUNNING}),  # a request, as above
}


def states_for(verb: Verb) -> frozenset[JobState]:
    """The states in which `verb` does anything."""
    return frozenset(state for moved_by, state in MOVES if moved_by is verb)
