"""One worker's way of claiming: look which lines have jobs, share between them, draw.

To look is to step over everything that lies at the front of a line: jobs that run, jobs this worker
does not know and, while something holds an old snapshot of a PostgreSQL database, all jobs that ended
since. So it is done sparingly, and a claim begins where the last look found a job, or where the last
claim stopped. What has come to stand before that place is found by the next look: after a while, and
at once when a claim brings less than was wanted. See docs/decisions/0008.

A worker that runs a suspect sees no others: they must not stand in the way of what it may claim.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from windlass import clock
from windlass.core.leases.fair_share import share_quotas
from windlass.core.leases.gates import is_suspect, with_suspects
from windlass.core.leases.lease import JobLine, JobPosition, Lease, LeaseRef, QueueSurvey, Quota
from windlass.ids import WorkerId
from windlass.storage.storage import Storage

#: A look that took longer than this, in seconds, is repeated only after ten times as long.
_LONG = 0.005
_TIMES = 10.0
#: So many lines that gave jobs are tried first when a nudge comes.
_MOST_REMEMBERED = 10


class ClaimPlanner:
    """Keeps its turn among tenants and its place in each line, so make one per worker."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._cursor = ""
        self._survey = QueueSurvey(lines=(), next_due_in=None)
        self._places: dict[JobLine, JobPosition] = {}
        self._productive_lines: Sequence[JobLine] = ()
        self._survey_was_partial = False
        self._suspect: LeaseRef | None = None
        self._known: list[str] = []
        self._known_with_suspects: list[str] = []
        self._looked_at = self._look_again_at = float("-inf")

    async def claim(
        self,
        worker: WorkerId,
        wanted: int,
        *,
        queues: Collection[str] | None,
        known: Collection[str],
        lease_time: timedelta,
        nudged: bool = False,
    ) -> tuple[list[Lease], timedelta | None]:
        """Lease up to `wanted` jobs; also how long until a job not yet due becomes so.

        After a nudge it may bring less than there is: what came is most likely where the last jobs
        came from, and starts sooner if nothing else is looked at first.
        """
        everything = known if await self._runs_suspect(worker) else self._with_suspects(known)

        async def draw(lines: Sequence[JobLine], wanted: int) -> list[Lease]:
            if everything is known:
                lines = [line for line in lines if not (line.gate and is_suspect(line.gate))]
            quotas = [
                replace(quota, begin=self._places.get(quota.line))
                for quota in self._share(lines, wanted)
            ]
            if not quotas:
                return []
            suspected = any(is_suspect(gate) for quota in quotas if (gate := quota.line.gate))
            names = everything if suspected else known
            leases = await self._storage.leases.claim(worker, quotas, names, lease_time=lease_time)
            self._cursor = quotas[-1].line.tenant  # the next look begins after it
            self._remember(lines, leases)
            return leases

        if (
            nudged
            and not self._survey.lines
            and (leases := await draw(self._productive_lines, wanted))
        ):
            return leases, self._survey.next_due_in
        looked = self._is_time_to_look
        if looked:
            await self._look(queues, everything, wanted)
        leases = await draw(self._survey.lines, wanted)
        if len(leases) < wanted and not looked:
            await self._look(queues, everything, wanted)
            leases += await draw(self._survey.lines, wanted - len(leases))
        return leases, self._survey.next_due_in

    def _share(self, lines: Sequence[JobLine], wanted: int) -> Sequence[Quota]:
        if len(lines) <= 1:  # nobody to share with
            return [Quota(line=line, line_limit=wanted, tenant_limit=wanted) for line in lines]
        return share_quotas(lines, wanted)

    def _with_suspects(self, known: Collection[str]) -> Collection[str]:
        """All that a worker may claim while it runs no suspect; made anew when that changes."""
        if known != self._known:
            self._known, self._known_with_suspects = list(known), with_suspects(known)
        return self._known_with_suspects

    async def _runs_suspect(self, worker: WorkerId) -> bool:
        """Whether the suspect that was claimed last is still leased."""
        if self._suspect is not None and not await self._storage.leases.held_leases(
            worker, [self._suspect]
        ):
            self._suspect = None
            self._look_again_at = float("-inf")
        return self._suspect is not None

    @property
    def _is_time_to_look(self) -> bool:
        now, due_in = clock.monotonic(), self._survey.next_due_in
        is_due = due_in is not None and now - self._looked_at >= due_in.total_seconds()
        return is_due or self._survey_was_partial or now >= self._look_again_at

    async def _look(
        self, queues: Collection[str] | None, known: Collection[str], wanted: int
    ) -> None:
        survey = await self._run_survey(queues, known, wanted)
        if survey.next_due_in is not None and survey.next_due_in <= timedelta():
            await self._storage.leases.promote()
            survey = await self._run_survey(queues, known, wanted)
        self._survey = survey
        self._survey_was_partial = len(survey.lines) >= wanted
        self._places = {line: line.first for line in survey.lines if line.first}

    async def _run_survey(
        self, queues: Collection[str] | None, known: Collection[str], wanted: int
    ) -> QueueSurvey:
        began = clock.monotonic()
        # As many lines as jobs are wanted: so even the last tenant's turn comes soon.
        survey = await self._storage.leases.survey(queues, known, cursor=self._cursor, most=wanted)
        self._looked_at = clock.monotonic()
        took = self._looked_at - began
        self._look_again_at = self._looked_at + took * (_TIMES if took > _LONG else 1.0)
        return survey

    def _remember(self, lines: Sequence[JobLine], leases: Sequence[Lease]) -> None:
        """Note which lines gave jobs, and how far."""
        by_gate = {(line.queue, line.tenant, line.gate): line for line in lines}
        gave: dict[JobLine, None] = {}
        for lease in leases:
            if lease.gate and is_suspect(lease.gate):
                self._suspect = lease.held
            if line := by_gate.get((lease.queue, lease.tenant, lease.gate)):
                self._places[line] = JobPosition(lease.priority, lease.due_at, lease.job_id)
                gave[line] = None
        if gave:
            self._productive_lines = tuple(gave)[:_MOST_REMEMBERED]
