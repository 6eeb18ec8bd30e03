"""Last outcomes of a process that ends while its event loop stands still."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from windlass.core.jobs import outcome
from windlass.core.leases.lease import Finish, Held
from windlass.worker.attempt import LiveAttempt
from windlass.worker.leases.watchdog import Blockage


def last_ends(
    held: Mapping[Held, LiveAttempt], unrecorded: Iterable[Finish], blockage: Blockage | None
) -> list[Finish]:
    """The end of each run: those that block are timed out, those that have ended keep their
    outcome, and the others are handed back, their attempts not counted."""
    outcomes = {finish.held: finish for finish in unrecorded}
    expired = {run.held for run in blockage.expired} if blockage else set()
    ends = []
    for one, run in held.items():
        if one in outcomes:
            ends.append(outcomes[one])
        elif one in expired and blockage is not None:
            if end := run.overrun(blockage.stack):
                ends.append(end)
        elif not run.lost:
            ends.append(_handed_back(run))
    return ends


def _handed_back(run: LiveAttempt) -> Finish:
    # Processes of a run end a little after the worker: nobody else may start it before.
    delay = timedelta(seconds=run.patience) if run.in_process else timedelta()
    perhaps_ended = run.ended or run.context.completed
    return outcome.released(run.held, delay=delay)._replace(perhaps_ended=perhaps_ended)
