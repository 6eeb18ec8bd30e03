"""Ledger of a simulation: what each commit did, and the invariants that must hold there.

It knows nothing of the tables: only which verbs were committed, with which arguments and results.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.simulation.faults import Committed
from windlass.core.jobs.states import ENDED
from windlass.core.leases.suspects import MOST_WORKER_DEATHS
from windlass.ids import EventId, JobId
from windlass.storage.sql import rows as convert
from windlass.storage.sql.batches import BATCHES

_FINISH = list(BATCHES["finishes"])


class InvariantBroken(AssertionError):
    """Something happened that must never happen."""


@dataclass
class Run:
    """A lease as long as it was neither ended nor taken back."""

    token: int
    worker: str
    definition: str
    expires_at: datetime


class Ledger:
    def __init__(self, *, lease_time: timedelta, limits: Mapping[str, int]) -> None:
        self._lease_time = lease_time
        self._limits = limits
        self.acknowledged: set[JobId] = set()
        self.events: set[EventId] = set()
        self.ended: dict[JobId, str] = {}
        self.running: dict[JobId, Run] = {}
        self.counts: Counter[str] = Counter()
        self.tokens: dict[JobId, int] = {}
        self.attempts: Counter[JobId] = Counter()
        self.deaths: Counter[JobId] = Counter()
        self._most_attempts: dict[JobId, int] = {}
        self._not_before: dict[JobId, datetime] = {}

    def committed(self, verbs: Sequence[Committed], now: datetime) -> None:
        """Note one transaction, and check what it did."""
        for verb, params, found in verbs:
            self.counts[verb] += 1
            match verb:
                case "claim":
                    for row in found:
                        self._claimed(row, params, now)
                case "renew":
                    for row in found:
                        self._renewed(row, now)
                case "finish":
                    finishes = [
                        dict(zip(_FINISH, each, strict=True))
                        for each in params["finishes"].rows(*_FINISH)
                    ]
                    by_lease = {(each["id"], each["token"]): each for each in finishes}
                    for row in found:
                        job = JobId(convert.uuid(row["id"]))
                        end = by_lease[job, row["lease_token"]]
                        self._finished(job, row, end, params["worker_id"], now)
                case "cancel":
                    for row in found:
                        self._canceled(JobId(convert.uuid(row["id"])), row["state"])
                case "retry":
                    for row in found:
                        if row["state"] == "queued":
                            self._retried(JobId(convert.uuid(row["id"])))
                case "run_now":
                    if found:
                        self._not_before.pop(JobId(params["id"]), None)
                case "emit_event":
                    self.events.add(params["id"])

    def _claimed(self, row: Mapping[str, Any], params: Mapping[str, Any], now: datetime) -> None:
        job, token = JobId(convert.uuid(row["id"])), int(row["lease_token"])
        _require(job not in self.ended, f"{job} was claimed after its end")
        _require(job not in self.running, f"{job} was claimed under another's lease")
        _require(token > self.tokens.get(job, 0), f"the token of {job} did not rise")
        _require(now >= self._not_before.get(job, now), f"{job} was claimed before its delay")
        _require(row["definition"] in params["known_keys"], f"{job} is not known to its worker")
        self.attempts[job] += 1
        _require(row["attempts"] == self.attempts[job], f"attempts of {job} are miscounted")
        _require(row["attempts"] <= row["max_attempts"], f"{job} has more attempts than its limit")
        self._most_attempts[job] = row["max_attempts"]
        self.tokens[job] = token
        self.running[job] = Run(
            token, params["worker_id"], row["definition"], now + self._lease_time
        )
        counted = Counter(run.definition for run in self.running.values())
        for definition, most in self._limits.items():
            _require(counted[definition] <= most, f"more of {definition} run than its limit")

    def _renewed(self, row: Mapping[str, Any], now: datetime) -> None:
        job = JobId(convert.uuid(row["id"]))
        run = self.running.get(job)
        _require(
            run is not None and run.token == row["lease_token"],
            f"a lease of {job} was renewed that is over",
        )
        assert run is not None
        run.expires_at = now + self._lease_time

    def _finished(
        self,
        job: JobId,
        row: Mapping[str, Any],
        asked: Mapping[str, Any],
        worker: str | None,
        now: datetime,
    ) -> None:
        run = self.running.get(job)
        _require(
            run is not None and run.token == row["lease_token"],
            f"an end of {job} was recorded without its current lease",
        )
        assert run is not None
        state = str(row["state"])
        if asked["outcome"] == "lost":
            overdue = now - run.expires_at
            _require(overdue >= self._lease_time / 3, f"{job} was reaped on the first look")
            self.deaths[job] += not asked["spared"]
        else:
            _require(worker == run.worker, f"an end of {job} was recorded for another worker")
        if asked["outcome"] == "released" or asked["uncounted"]:
            self.attempts[job] -= 1
        del self.running[job]
        self._not_before[job] = now + timedelta(seconds=asked["delay"])
        if state in ENDED:
            self.ended[job] = state
        else:
            left = self.attempts[job] < self._most_attempts[job]
            _require(left, f"{job} goes on without attempts")
            deaths = self.deaths[job]
            _require(deaths < MOST_WORKER_DEATHS, f"{job} goes on after {deaths} deaths")

    def _canceled(self, job: JobId, state: str) -> None:
        _require(job not in self.ended, f"{job} was canceled after its end")
        if state in ENDED:
            _require(job not in self.running, f"{job} was canceled while it ran")
            self.ended[job] = state
        else:
            _require(job in self.running, f"{job} was asked to stop, and does not run")

    def _retried(self, job: JobId) -> None:
        _require(job in self.ended, f"{job} was retried before its end")
        _require(self.ended[job] != "completed", f"{job} was retried though it had completed")
        del self.ended[job]
        del self.attempts[job], self.deaths[job]
        self._not_before.pop(job, None)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InvariantBroken(what)
