"""Which job took its worker down: what a lost lease means for its job.

A worker that dies with several jobs leaves suspects, and none of them is to blame yet: their attempts are
given back, and each runs apart from the other suspects. One that was the only suspect on a worker that died
as well runs where no other job does. So the guilty one is soon alone with a death. The first death in
company counts, so that the third in all sets the guilty one aside; but only a death alone does so. See
docs/decisions/0019.
"""

from dataclasses import dataclass

from windlass.core.leases.gates import is_suspect, runs_alone, suspect_gate

#: A job that takes its worker down this often is set aside, whatever attempts remain.
MOST_WORKER_DEATHS = 3
#: Leases of a job that one worker loses, and lives: so many are forgiven.
_MOST_FORGIVEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAttempt:
    """A lease that ran out, and what else its worker lost about the same time."""

    definition: str
    gate: str
    attempts: int
    max_attempts: int
    worker_deaths: int
    #: Leases of other jobs that ran out with the same worker, and how many of those were suspects.
    neighbours: int = 0
    suspects: int = 0
    #: How often the same worker lost this job before. A process dies once, so it lived on then.
    lost_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LossVerdict:
    """Verdict on a job whose lease was lost."""

    dead: bool = False
    #: Whether the attempt, and a death of a worker, count against its limits.
    attempt_counts: bool = True
    death_counts: bool = True
    gate: str | None = None


def judge_loss(loss: LostAttempt) -> LossVerdict:
    """Decide what a lost lease means: at once again, unless the job keeps killing its workers."""
    gate = suspect_gate(loss.gate, loss.definition, alone=runs_alone(loss.gate))
    if loss.neighbours and gate is not None:
        return _judge_shared_loss(loss, gate)
    if 0 < loss.lost_before <= _MOST_FORGIVEN:
        return LossVerdict(attempt_counts=False, death_counts=False, gate=gate)
    dead = loss.attempts >= loss.max_attempts or loss.worker_deaths + 1 >= MOST_WORKER_DEATHS
    return LossVerdict(dead=dead, gate=gate)


def _judge_shared_loss(loss: LostAttempt, gate: str) -> LossVerdict:
    if runs_alone(loss.gate):  # it was still waiting for the others to end
        return LossVerdict(attempt_counts=False, death_counts=False, gate=gate)
    only_suspect = is_suspect(loss.gate) and not loss.suspects
    most = MOST_WORKER_DEATHS - 1 if only_suspect else 1
    return LossVerdict(
        attempt_counts=False,
        death_counts=loss.worker_deaths < most,
        gate=suspect_gate(loss.gate, loss.definition, alone=only_suspect),
    )
