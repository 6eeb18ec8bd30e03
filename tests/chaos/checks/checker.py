"""Checker of a chaos run: compares the ledger and the database with the invariants.

It knows neither processes nor the product: `check` takes lines and rows, and answers a verdict.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from tests.chaos.checks.database_records import STATES, JobRow, Records
from tests.chaos.checks.lost_attempts import attempts_by_job, false_company, given_back
from tests.chaos.processes.definitions import DEFINITIONS
from tests.chaos.processes.ledger_lines import digest
from tests.support.processes.ledger import Line

ENDED = frozenset({"completed", "canceled", "dead_letter"})
MOST_WORKER_DEATHS = 3
#: Violations of one invariant that are told one by one.
_TOLD = 10

Run = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that is known of a run. The lines are those of the ledger, oldest first."""

    lines: Sequence[Line]
    records: Records
    #: The kinds of fault that were to bite.
    faults: Iterable[str] = ()
    #: Processes that outlived the run.
    leftovers: Sequence[str] = ()

    def of(self, what: str) -> list[Line]:
        return self._by_kind.get(what, [])

    @cached_property
    def _by_kind(self) -> dict[str, list[Line]]:
        found = defaultdict(list)
        for line in self.lines:
            found[line["what"]].append(line)
        return found

    @cached_property
    def jobs(self) -> dict[str, JobRow]:
        return {job.id: job for job in self.records.jobs}

    @cached_property
    def acknowledged(self) -> dict[str, Line]:
        """What was acknowledged of each job."""
        jobs = [job for line in self.of("acknowledged") for job in line["jobs"]]
        return {job["job"]: job for job in jobs if job["status"] == "created"}

    @cached_property
    def outcomes(self) -> dict[Run, str]:
        """How each attempt ended, as recorded."""
        found = {(job.id, job.lease_token): job.outcome for job in self.records.jobs if job.outcome}
        return found | {(row.job, row.number): row.outcome for row in self.records.attempts}

    @cached_property
    def starts(self) -> dict[Run, Line]:
        return {_run(line): line for line in self.of("started")}

    @cached_property
    def ends(self) -> dict[Run, Line]:
        return {_run(line): line for line in self.of("ended")}

    @cached_property
    def effects(self) -> set[Run]:
        return {_run(line) for line in self.of("effect")}

    @cached_property
    def canceled(self) -> set[str]:
        """Jobs that a person may have canceled."""
        return {line["job"] for line in self.of("canceling")}

    @cached_property
    def retried(self) -> set[str]:
        """Jobs that a person may have retried."""
        return {line["job"] for line in self.of("retrying")}


@dataclass(frozen=True)
class Verdict:
    """What was violated, by invariant: an empty list for one that held."""

    violations: Mapping[str, list[str]]
    bites: Mapping[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return not any(self.violations.values())

    def __str__(self) -> str:
        told = []
        for name, found in self.violations.items():
            if found:
                told.append(f"{name}: {len(found)}")
                told += [f"    {text}" for text in found[:_TOLD]]
        return "\n".join(told) or "everything held"


def check(evidence: Evidence) -> Verdict:
    """Hold the evidence against every invariant."""
    return Verdict(
        {name: list(find(evidence)) for name, find in INVARIANTS.items()},
        Counter(line["kind"] for line in evidence.of("fault") if line["bites"]),
    )


def lost(evidence: Evidence) -> Iterator[str]:
    """Each acknowledged job is stored, and in a legal state."""
    for id, job in evidence.acknowledged.items():
        row = evidence.jobs.get(id)
        if row is None:
            yield f"job {id} of {job['definition']} was acknowledged and is gone"
        elif row.state not in STATES:
            yield f"job {id} is {row.state!r}"


def unfinished(evidence: Evidence) -> Iterator[str]:
    """Each job came to its end once the faults were over."""
    for job in evidence.records.jobs:
        if job.state not in ENDED and job.definition in DEFINITIONS:
            yield f"job {job.id} of {job.definition} is {job.state}"


def ended_twice(evidence: Evidence) -> Iterator[str]:
    """Each job has one row and one end, and no attempt after it."""
    for id, rows in Counter(job.id for job in evidence.records.jobs).items():
        if rows > 1:
            yield f"job {id} has {rows} rows"
    for (id, number), outcome in evidence.outcomes.items():
        job = evidence.jobs.get(id)
        if outcome != "succeeded" or job is None:
            continue
        if number != job.lease_token:
            yield f"job {id} succeeded in attempt {number} of {job.lease_token}"
        elif job.state != "completed":
            yield f"job {id} succeeded in attempt {number} and is {job.state}"


def stale_accepted(evidence: Evidence) -> Iterator[str]:
    """The result that is recorded is that of the last lease, whose run had its effect."""
    for job in evidence.records.jobs:
        if job.state != "completed" or job.definition not in DEFINITIONS:
            continue
        fence = job.result.get("fence") if isinstance(job.result, dict) else None
        if fence is not None and fence != job.lease_token:
            yield f"job {job.id} has the result of attempt {fence}, of {job.lease_token}"
        elif (job.id, job.lease_token) not in evidence.effects:
            yield f"job {job.id} completed, but attempt {job.lease_token} never came to its end"


def token_reused(evidence: Evidence) -> Iterator[str]:
    """A lease token is issued once, and none is above the last one."""
    for (id, fence), times in Counter(map(_run, evidence.of("started"))).items():
        job = evidence.jobs.get(id)
        if times > 1:
            yield f"job {id} started {times} times under lease token {fence}"
        if job is not None and fence > job.lease_token:
            yield f"job {id} started under token {fence}, and its row has {job.lease_token}"


def attempts_wrong(evidence: Evidence) -> Iterator[str]:
    """Every attempt is recorded, there are no more than allowed, and those that count are counted."""
    recorded: dict[str, list[int]] = defaultdict(list)
    for row in evidence.records.attempts:
        recorded[row.job].append(row.number)
    attempts = attempts_by_job(evidence.records)
    for job in evidence.records.jobs:
        numbers = recorded[job.id]
        missing = set(range(1, job.lease_token)) - set(numbers)
        if missing or len(numbers) > len(set(numbers)):
            yield f"job {job.id}: attempts {sorted(numbers)} of {job.lease_token} are recorded"
        if job.worker_deaths > MOST_WORKER_DEATHS:
            yield f"job {job.id} took down {job.worker_deaths} workers"
        if job.attempts > job.max_attempts:
            yield f"job {job.id} had {job.attempts} attempts of {job.max_attempts}"
        released = sum(each.outcome == "released" for each in attempts[job.id])
        lost = given_back(attempts[job.id])
        if job.id not in evidence.retried and job.attempts != job.lease_token - released - lost:
            yield (
                f"job {job.id} counts {job.attempts} attempts: of {job.lease_token},"
                f" {released} were released and {lost} lost without its fault"
            )
    for each in false_company(attempt for found in attempts.values() for attempt in found):
        yield f"job {each.job} was lost alone in attempt {each.number}, and its record says otherwise"


def overlapping(evidence: Evidence) -> Iterator[str]:
    """A run begins beside an earlier one of its job only if that one lost its lease."""
    by_job = defaultdict(list)
    for id, fence in evidence.starts:
        by_job[id].append(fence)
    for id, fences in by_job.items():
        for fence, later in pairwise(sorted(fences)):
            end = evidence.ends.get((id, fence))
            if end is None or end["at"] <= evidence.starts[id, later]["at"]:
                continue
            outcome = evidence.outcomes.get((id, fence))
            if outcome not in ("lost", "timed_out", "canceled"):
                yield f"job {id} started {later} beside {fence}, which ended as {outcome}"


def limits_exceeded(evidence: Evidence) -> Iterator[str]:
    """Of a limited definition, no more runs with live leases than allowed at any instant."""
    for key, expected in DEFINITIONS.items():
        if expected.max_concurrency is None:
            continue
        most = _most_at_once(_intervals(evidence, key))
        if most > expected.max_concurrency:
            yield f"{most} jobs of {key} ran at once, and {expected.max_concurrency} may"
    for id in evidence.records.holds:
        job = evidence.jobs.get(id)
        if job is None or job.state != "running":
            yield f"job {id} holds a place under a limit and does not run"


def duplicates(evidence: Evidence) -> Iterator[str]:
    """One active job for each dedupe key, one job for each idempotency key."""
    keys = [job.idempotency_key for job in evidence.records.jobs if job.idempotency_key]
    for key, times in Counter(keys).items():
        if times > 1:
            yield f"{times} jobs have the idempotency key {key}"
    by_key = defaultdict(list)
    for job in evidence.records.jobs:
        if job.dedupe_key:
            by_key[job.dedupe_key].append(job)
    for key, jobs in by_key.items():
        ids = {job.id for job in jobs}
        active = [job for job in jobs if job.state not in ENDED]
        if len(active) > 1:
            yield f"{len(active)} jobs with the key {key} are active"
        intervals = [i for i in _intervals(evidence, "deduped") if i[2] in ids]
        if _most_at_once(intervals) > 1:
            yield f"two jobs with the key {key} ran at once"


def due_times(evidence: Evidence) -> Iterator[str]:
    """Each schedule fired once for each due time before the one that was next at its end."""
    made = defaultdict(list)
    for job in evidence.records.jobs:
        if job.trigger_id and job.trigger_due_at is not None:
            made[job.trigger_id].append(job.trigger_due_at)
    next_run_at = {line["schedule"]: line["next_run_at"] for line in evidence.of("fired")}
    for schedule in evidence.records.schedules:
        times = sorted(made[schedule.id])
        for earlier, later in pairwise(times):
            steps = round((later - earlier) / schedule.interval, 3)
            if steps == 0:
                yield f"schedule {schedule.id} fired twice for {later}"
            elif steps != 1:
                yield f"schedule {schedule.id} fired for {earlier} and next for {later}"
        expected = next_run_at.get(schedule.id)
        if expected is not None and (not times or times[-1] < expected - 1.001 * schedule.interval):
            yield f"schedule {schedule.id} was to fire next at {expected}, and fired {times[-1:]}"


def events_wrong(evidence: Evidence) -> Iterator[str]:
    """Each event that was acknowledged made one job."""
    jobs = defaultdict(set)
    for line in evidence.of("started"):
        if line["definition"] == "heard":
            jobs[line["digest"]].add(line["job"])
    for line in evidence.of("emitted"):
        made = len(jobs[digest(line["number"], "")])
        if made != 1:
            yield f"event {line['number']} made {made} jobs"
    for found in jobs.values():
        if len(found) > 1:
            yield f"one event made the jobs {sorted(found)}"


def innocent_dead(evidence: Evidence) -> Iterator[str]:
    """A job ends as its handler made it end; only a person cancels."""
    hits = Counter(job for line in evidence.of("hit") for job, _ in line["runs"])
    for job in evidence.records.jobs:
        expected = DEFINITIONS.get(job.definition)
        if expected is None or job.state not in ENDED:
            continue
        if job.worker_deaths >= MOST_WORKER_DEATHS <= hits[job.id]:
            continue  # it was there each time the run killed a worker: to set it aside is right
        if job.state == "canceled":
            if job.id not in evidence.canceled:
                yield f"job {job.id} of {job.definition} was canceled by nobody"
        elif job.state not in expected.ends:
            yield (
                f"job {job.id} of {job.definition} is {job.state} after {job.attempts} attempts,"
                f" {job.worker_deaths} dead workers, the last one {job.outcome}"
            )


def altered(evidence: Evidence) -> Iterator[str]:
    """What was accepted reads back equal."""
    for line in evidence.of("started"):
        told = evidence.acknowledged.get(line["job"])
        if told is not None and told["digest"] != line["digest"]:
            yield f"job {line['job']} got another payload than was enqueued"


def unknown_run(evidence: Evidence) -> Iterator[str]:
    """A worker claims only what it knows."""
    release = {line["pid"]: line["release"] for line in evidence.of("ready") if "release" in line}
    for line in evidence.of("started"):
        expected = DEFINITIONS.get(line["definition"])
        if expected and expected.second_release and release.get(line["pid"], "2") != "2":
            yield f"job {line['job']} ran in a worker of the first release"


def counters_off(evidence: Evidence) -> Iterator[str]:
    """Counters equal a recount."""
    recount: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0] * len(STATES))
    for job in evidence.records.jobs:
        if job.state in STATES:
            recount[job.tenant, job.queue, job.definition][STATES.index(job.state)] += 1
    for key in {*recount, *evidence.records.counts}:
        found = tuple(recount.get(key, [0] * len(STATES)))
        told = evidence.records.counts.get(key, (0,) * len(STATES))
        if found != told:
            yield f"{'/'.join(key)}: the counters say {told}, the rows {found}"


def idle(evidence: Evidence) -> Iterator[str]:
    """Each worker that is alive takes work while there is some."""
    for line in evidence.of("idle"):
        yield f"{line['idler']} is alive, and started nothing while jobs waited"


def left_behind(evidence: Evidence) -> Iterator[str]:
    """No process that a run started outlives it."""
    for process in evidence.leftovers:
        yield f"still there: {process}"


def without_bite(evidence: Evidence) -> Iterator[str]:
    """Each kind of fault demonstrably hit something."""
    bites = {line["kind"] for line in evidence.of("fault") if line["bites"]}
    for kind in evidence.faults:
        if kind not in bites:
            yield f"nothing shows that {kind} bit"
    started = {line["definition"] for line in evidence.of("started")}
    for key in {job.definition for job in evidence.records.jobs}:
        if key in DEFINITIONS and DEFINITIONS[key].misbehaves and key not in started:
            yield f"no job of {key} ran"


INVARIANTS: Mapping[str, Callable[[Evidence], Iterator[str]]] = {
    "lost": lost,
    "unfinished": unfinished,
    "ended twice": ended_twice,
    "stale end accepted": stale_accepted,
    "lease token reused": token_reused,
    "attempts miscounted": attempts_wrong,
    "overlap without a lost lease": overlapping,
    "limits exceeded": limits_exceeded,
    "duplicates": duplicates,
    "due times lost or doubled": due_times,
    "events lost or doubled": events_wrong,
    "innocent jobs dead-lettered": innocent_dead,
    "payloads altered": altered,
    "unknown definitions run": unknown_run,
    "counters off": counters_off,
    "workers alive but idle": idle,
    "processes left behind": left_behind,
    "faults without a bite": without_bite,
}


def _run(line: Line) -> Run:
    return str(line["job"]), int(line["fence"])


def _intervals(evidence: Evidence, definition: str) -> list[tuple[float, float, str]]:
    """From start to end of the runs whose lease was theirs all the time."""
    found = []
    for run, line in evidence.starts.items():
        end = evidence.ends.get(run)
        if line["definition"] == definition and end and evidence.outcomes.get(run) == "succeeded":
            found.append((line["at"], end["at"], run[0]))
    return found


def _most_at_once(intervals: Iterable[tuple[float, float, str]]) -> int:
    steps = sorted(step for start, end, _ in intervals for step in ((start, 1), (end, -1)))
    most = now = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most
