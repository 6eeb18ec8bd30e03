"""The definitions of a chaos run: how many of each are enqueued, and how their jobs may end."""

from dataclasses import dataclass

COMPLETED = frozenset({"completed"})
FAILED = frozenset({"dead_letter"})
EITHER = COMPLETED | FAILED
#: Of the jobs that the driver of a run enqueues and follows. Operators leave them alone.
DRIVERS_PRIORITY = 1


@dataclass(frozen=True)
class Expected:
    """What may become of a definition's jobs when no person intervenes."""

    #: Jobs among a thousand that a producer enqueues.
    weight: int
    ends: frozenset[str] = COMPLETED
    #: Runs at once, in all workers together.
    max_concurrency: int | None = None
    #: Only workers of the second release know it.
    second_release: bool = False
    #: Its handler misbehaves: that it ran is a fault that bit.
    misbehaves: bool = False


#: Jobs that end otherwise than in `ends` are innocent jobs that were dead-lettered.
DEFINITIONS = {
    "quick": Expected(weight=800),
    "lasting": Expected(weight=40),
    "threaded": Expected(weight=40),
    "separate": Expected(weight=5),
    "limited": Expected(weight=20, max_concurrency=2),
    "deduped": Expected(weight=20),
    "flaky": Expected(weight=20, ends=EITHER),
    "newcomer": Expected(weight=10, second_release=True),
    # One of each of these is enqueued by the driver, in some minutes of a long run again.
    "beat": Expected(weight=0),
    "heard": Expected(weight=0),
    "chatty": Expected(weight=0, misbehaves=True),
    "blocking": Expected(weight=0, misbehaves=True),
    "poison": Expected(weight=0, ends=FAILED, misbehaves=True),
    "segfault": Expected(weight=0, ends=FAILED, misbehaves=True),
    "forking": Expected(weight=0, misbehaves=True),
    "leaking": Expected(weight=0, ends=FAILED, misbehaves=True),
    "exiting": Expected(weight=0, ends=FAILED, misbehaves=True),
    "unspeakable": Expected(weight=0, ends=FAILED, misbehaves=True),
    "unstorable": Expected(weight=0, ends=FAILED, misbehaves=True),
    "broken text": Expected(weight=0, misbehaves=True),
}
MISBEHAVING = tuple(key for key, expected in DEFINITIONS.items() if expected.misbehaves)
