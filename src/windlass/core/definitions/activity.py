"""Activity of a definition: running jobs, last and next run, success rate, p95, workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from windlass.ids import WorkerId

#: Success rate and percentile are of this time.
ACTIVITY_WINDOW = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionTimes:
    """Activity of a definition that is cheap to read for many at once.

    `strategy` is the type of the definition's own trigger in code, `on_demand` if it has none.
    `next_run_at` is None where nothing is scheduled: also while it is disabled or missing from code.
    """

    strategy: str = "on_demand"
    running: int = 0
    next_run_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionActivity(DefinitionTimes):
    """Full activity of one definition.

    `last_run_at` is when the newest of its ended jobs began its last attempt. `success_rate` is the
    share of attempts that succeeded, from 0 to 1, and `p95_seconds` how long all but one in twenty
    took at most; both are of the last 24 hours, and None without attempts. `workers` are the live
    ones that can run it, `import_errors` has by worker why others cannot; both are None for those
    who see one tenant only.
    """

    last_run_at: datetime | None = None
    success_rate: float | None = None
    p95_seconds: float | None = None
    workers: Sequence[WorkerId] | None = None
    import_errors: Mapping[str, str] | None = None
