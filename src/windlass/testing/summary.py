"""Summary of a test's run, counted from the recorded outcomes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.errors.wording import with_type
from windlass.telemetry import Telemetry

_FAILURES = (Outcome.FAILED, Outcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of the jobs that ran, by outcome.

    `failed` counts attempts that failed or timed out. Of these `retried` are retried later; the jobs
    of the others are dead-lettered. `errors` has the error of each.
    """

    completed: int = 0
    failed: int = 0
    retried: int = 0
    dead_letter: int = 0
    errors: tuple[str, ...] = ()


class OutcomeCounter(Telemetry):
    """Counts recorded outcomes."""

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[AttemptEnd, JobState]] = []

    def finished(
        self,
        finishes: Sequence[AttemptEnd],
        ended: Mapping[LeaseRef, JobState],
        who: Callable[[LeaseRef], Lease | None] = lambda held: None,
    ) -> None:
        super().finished(finishes, ended, who)
        for finish in finishes:
            if state := ended.get(finish.held):
                self._ends.append((finish, state))

    @property
    def attempts(self) -> int:
        """Number of attempts that ended since the last summary."""
        return len(self._ends)

    def summary(self) -> Summary:
        """Count the outcomes since the last summary, and start again."""
        ends, self._ends = self._ends, []
        states = [state for _, state in ends]
        failures = [(end, state) for end, state in ends if end.outcome in _FAILURES]
        return Summary(
            completed=states.count(JobState.COMPLETED),
            failed=len(failures),
            retried=sum(state is JobState.QUEUED for _, state in failures),
            dead_letter=states.count(JobState.DEAD_LETTER),
            errors=tuple(with_type(end.error_type, end.error) for end, _ in failures),
        )
