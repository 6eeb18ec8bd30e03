"""Last outcomes of a process that ends while its event loop stands still."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from windlass.core.jobs import outcome
from windlass.core.leases.lease import AttemptEnd, LeaseRef
from windlass.worker.attempt import LiveAttempt
from windlass.worker.leases.watchdog import Blockage


def final_outcomes(
    held: Mapping[LeaseRef, LiveAttempt],
    unrecorded: Iterable[AttemptEnd],
    blockage: Blockage | None,
) -> list[AttemptEnd]:
    """The end of each run: those that block are timed out, those that have ended keep their
    outcome, and the others are handed back, their attempts not counted."""
    outcomes = {finish.held: finish for finish in unrecorded}
    expired = {run.held for run in blockage.expired} if blockage else set()
    ends = []
    for one, run in held.items():
        if one in outcomes:
            ends.append(outcomes[one])
        elif one in expired and blockage is not None:
            if end := run.timeout_outcome(blockage.stack):
                ends.append(end)
        elif not run.lost:
            ends.append(_released_outcome(run))
    return ends


def _released_outcome(run: LiveAttempt) -> AttemptEnd:
    # Processes of a run end a little after the worker: nobody else may start it before.
    delay = timedelta(seconds=run.stop_timeout) if run.runs_in_own_process else timedelta()
    maybe_recorded = run.ended or run.context.completed
    return outcome.released(run.held, delay=delay)._replace(maybe_recorded=maybe_recorded)
