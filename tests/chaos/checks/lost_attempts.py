"""Lost attempts that count against their job, computed again from the records of all attempts.

An attempt is given back when its job was lost together with others, or when its worker had lost the job
before and lived on. See docs/decisions/0019.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tests.chaos.checks.database_records import AttemptRow, JobRow, Records

#: A worker that lost a job before lived on then: so many such losses are forgiven.
MOST_FORGIVEN = 3
#: What a reaper saw run out of late is company, too. It remembers for two lease times.
_REMEMBERED_SECONDS = 60.0
_TOLD_COMPANY = re.compile(r" of this job and [\d,]+ others?\b")


def attempts_by_job(records: Records) -> dict[str, list[AttemptRow]]:
    """All attempts, oldest first; the last one of a job may be told by the job's own row alone."""
    by_number = {
        (row.id, row.lease_token): _last_attempt(row) for row in records.jobs if row.outcome
    }
    by_number |= {(row.job, row.number): row for row in records.attempts}
    found: dict[str, list[AttemptRow]] = defaultdict(list)
    for (job, _), attempt in sorted(by_number.items()):
        found[job].append(attempt)
    return found


def _last_attempt(row: JobRow) -> AttemptRow:
    return AttemptRow(
        job=row.id,
        number=row.lease_token,
        outcome=row.outcome or "",
        worker=row.worker,
        started_at=row.started_at or 0.0,
        finished_at=row.finished_at or 0.0,
        error=row.error,
    )


def given_back(attempts: Sequence[AttemptRow]) -> int:
    """How many of a job's lost attempts do not count."""
    lost = [attempt for attempt in attempts if attempt.outcome == "lost"]
    return sum(
        had_company(attempt)
        or 0 < sum(earlier.worker == attempt.worker for earlier in lost[:place]) <= MOST_FORGIVEN
        for place, attempt in enumerate(lost)
    )


def had_company(attempt: AttemptRow) -> bool:
    """Whether it was lost, and its record says that its worker lost other jobs, too."""
    # A row keeps the last error, also of a job that succeeded after it.
    return attempt.outcome == "lost" and bool(_TOLD_COMPANY.search(attempt.error or ""))


def false_company(attempts: Iterable[AttemptRow]) -> Iterator[AttemptRow]:
    """Lost attempts that were given back because of others, though their worker had none."""
    by_worker: dict[str | None, list[AttemptRow]] = defaultdict(list)
    for attempt in attempts:
        by_worker[attempt.worker].append(attempt)
    for found in by_worker.values():
        for attempt in found:
            if had_company(attempt) and not any(_were_together(attempt, each) for each in found):
                yield attempt


def _were_together(lost: AttemptRow, other: AttemptRow) -> bool:
    if other.job == lost.job:
        return False
    since = lost.started_at - (_REMEMBERED_SECONDS if other.outcome == "lost" else 0.0)
    return since <= other.finished_at and other.started_at <= lost.finished_at
