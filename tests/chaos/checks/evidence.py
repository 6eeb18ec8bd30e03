"""Evidence of a chaos run, written by hand: records of the ledger and the database."""

from dataclasses import replace
from itertools import count

from tests.chaos.checks.checker import Evidence, check
from tests.chaos.checks.database_records import AttemptRow, JobRow, Records, ScheduleRow
from tests.chaos.processes.ledger_lines import digest
from windlass.engine.leases.leases import UNCOUNTED


class Book:
    """A ledger and a database that agree, until a test plants something."""

    def __init__(self):
        self.lines = []
        self.jobs = {}
        self.attempts = []
        self.schedules = []
        self.holds = []
        self.faults = {}
        self.leftovers = []
        self.counts = None
        self._clock = count(1)

    def note(self, what, **about):
        line = {"what": what, "at": float(next(self._clock)), "pid": 1, **about}
        self.lines.append(line)
        return line

    def acknowledge(self, id, definition="quick", **about):
        job = {"job": id, "status": "created", "definition": definition, "digest": digest(1, "")}
        self.note("acknowledged", jobs=[{**job, **about}])

    def start(self, id, fence=1, definition="quick", **about):
        told = {"job": id, "fence": fence, "definition": definition, "digest": digest(1, "")}
        return self.note("started", **{**told, **about})

    def end(self, id, fence=1, how="returned"):
        if how == "returned":
            self.note("effect", job=id, fence=fence)
        return self.note("ended", job=id, fence=fence, how=how)

    def store(self, id, **about):
        given = {"definition": "quick", "state": "completed", "outcome": "succeeded"}
        row = JobRow(id=id, **{**given, **about})
        if row.state == "completed" and "result" not in about:
            row = replace(row, result={"fence": row.lease_token})
        self.jobs[id] = row

    def change(self, id, **about):
        self.jobs[id] = replace(self.jobs[id], **about)

    def complete(self, id, definition="quick", **about):
        """A job that was acknowledged, ran once, and completed."""
        self.acknowledge(id, definition)
        self.start(id, definition=definition)
        self.end(id)
        self.store(id, definition=definition, **about)

    def lose(self, id, definition="quick", **about):
        """A job whose first attempt was lost, and whose second one succeeded."""
        self.acknowledge(id, definition)
        self.start(id, definition=definition)
        self.start(id, 2, definition=definition)
        self.end(id, 2)
        self.attempts.append(AttemptRow(id, 1, "lost", worker="alder"))
        told = {"lease_token": 2, "attempts": 2, "worker_deaths": 1, "worker": "birch"}
        self.store(id, definition=definition, **{**told, **about})

    def lose_together(self, *ids):
        """Jobs whose first attempts were lost with one worker, and given back."""
        for id in ids:
            others = f" of this job and {len(ids) - 1} other"
            said = f"the worker was lost: cedar did not renew its lease{others} {UNCOUNTED}"
            self.lose(id)
            self.change(id, attempts=1, worker_deaths=0, error=said)
            self.attempts[-1] = AttemptRow(
                id, 1, "lost", worker="cedar", started_at=1.0, finished_at=2.0, error=said
            )

    def verdict(self):
        rows = list(self.jobs.values())
        counts = self.counts
        if counts is None:
            counts = {}
            for row in rows:
                key = (row.tenant, row.queue, row.definition)
                numbers = list(counts.get(key, (0,) * 6))
                states = ["pending", "queued", "running", "completed", "canceled", "dead_letter"]
                if row.state in states:
                    numbers[states.index(row.state)] += 1
                counts[key] = tuple(numbers)
        records = Records(
            jobs=rows,
            attempts=self.attempts,
            schedules=self.schedules,
            holds=self.holds,
            counts=counts,
        )
        return check(
            Evidence(
                lines=self.lines, records=records, faults=self.faults, leftovers=self.leftovers
            )
        )

    def broken(self):
        """The invariants that are violated."""
        return {name for name, found in self.verdict().violations.items() if found}


def a_clean_run() -> Book:
    """A run with a lost attempt, a schedule, an event and a fault, in which everything is in order."""
    book = Book()
    for number in range(3):
        book.complete(f"job {number}")
    book.lose("job lost once")
    book.schedules.append(ScheduleRow("every two", 2.0))
    for number in range(3):
        book.complete(
            f"beat {number}", "beat", trigger_id="every two", trigger_due_at=100.0 + 2 * number
        )
    book.note("fired", schedule="every two", next_run_at=106.0)
    book.note("emitted", number=1)
    book.complete("heard", "heard")
    book.faults = ["worker killed"]
    book.note("fault", kind="worker killed", bites=1, evidence="", recovered=None)
    return book
