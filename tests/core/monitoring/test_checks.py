"""The rules of a checkup: verdict, message and hint of each check."""

from datetime import timedelta

import pytest

from windlass.core.monitoring import database_checks as database
from windlass.core.monitoring import queue_checks as queue
from windlass.core.monitoring.checks import CheckLevel, failed
from windlass.core.monitoring.database_checks import DeadRows, OldSnapshot
from windlass.core.monitoring.queue_checks import QueuedJobs, WorkerCoverage
from windlass.errors import DatabaseUnreachable

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
FAR = "postgresql://app:secret@db.example/app"


def levels(*checks):
    return [check.level for check in checks]


def test_an_error_becomes_a_check_with_its_hint_and_no_secret():
    check = failed("database", DatabaseUnreachable(FAR, cause="refused"))

    assert check.level is CheckLevel.BROKEN
    assert check.sentence == "Cannot reach the database at db.example:5432. Refused."
    assert "WINDLASS_DATABASE_URL" in check.fix


def test_a_pooler_that_refuses_settings_is_recognised():
    error = DatabaseUnreachable(FAR, cause="unsupported startup parameter: plan_cache_mode")

    check = database.unreachable(error)

    assert (check.code, check.level) == ("pooler", CheckLevel.BROKEN)
    assert "database.listen_url" in check.fix


def test_missing_signals_are_reported_with_the_address():
    came = database.listening("db:5432", reached=True, heard=True)
    elsewhere = database.listening("db:5432", reached=True, heard=False)
    silent = database.listening("db:5432", reached=False, heard=False)

    assert levels(came, elsewhere, silent) == ["ok", "broken", "broken"]
    assert "same database" in elsewhere.sentence
    assert "does not answer" in silent.sentence


def test_every_durability_risk_is_a_warning():
    assert levels(*database.durability([])) == ["ok"]
    assert levels(*database.durability(["fsync is off", "in memory"])) == ["warning", "warning"]


@pytest.mark.parametrize(
    ("skew", "error", "told"),
    [
        (SECOND, 0 * SECOND, None),
        (-3 * SECOND, 0 * SECOND, "3 s ahead of"),
        (90 * SECOND, SECOND, "1 min 30 s behind"),
        (3 * SECOND, 2 * SECOND, None),  # the round trip took too long to be sure
    ],
)
def test_clock_differences_beyond_the_round_trip_are_reported(skew, error, told):
    check = database.clock_skew(skew, error=error)

    assert (told is None) == (check.level is CheckLevel.OK)
    assert (told or "same time") in check.sentence


def test_connections_sharing_a_process_indicate_a_pooler():
    apart = database.pooling([1, 2, 3], told=False)
    shared = database.pooling([1, 2, 1], told=False)
    known = database.pooling([1, 1, 1], told=True)
    no_server = database.pooling([None, None], told=False)

    assert levels(apart, shared, known, no_server) == ["ok", "broken", "ok", "ok"]


def test_only_old_snapshots_are_reported():
    short = OldSnapshot("transaction", "process 1", MINUTE, 10)
    long = OldSnapshot("transaction", "process 2 of app", HOUR, 10)
    slot = OldSnapshot("slot", "the replication slot copy", None, 5_000_000)

    assert levels(*database.old_snapshots([short])) == ["ok"]
    first, second = database.old_snapshots([short, long, slot])
    assert first.sentence == ("process 2 of app blocks vacuum, for 1 h and 10 transactions.")
    assert "pg_drop_replication_slot" in second.fix


def test_dead_rows_are_reported_when_they_outnumber_live_ones():
    few = DeadRows("windlass_live", 10, 90_000, MINUTE)
    many_of_many = DeadRows("windlass_live", 1_000_000, 200_000, MINUTE)
    many = DeadRows("windlass_live", 10, 200_000, None)

    assert levels(*database.vacuum([few, many_of_many])) == ["ok"]
    [check] = database.vacuum([few, many])
    assert "200,000 dead rows" in check.sentence
    assert "never" in check.sentence
    assert database.vacuum([]) == []


def test_isolation_and_journal_mode_are_checked():
    assert levels(database.isolation("READ-COMMITTED"), database.isolation("REPEATABLE-READ")) == [
        "ok",
        "broken",
    ]
    assert levels(database.journal("wal"), database.journal("truncate")) == ["ok", "warning"]


def test_no_worker_is_a_failure_only_while_jobs_wait():
    assert levels(*queue.workers({}, queued=0)) == ["warning"]
    assert levels(*queue.workers({}, queued=1)) == ["broken"]
    assert levels(*queue.workers({"a": "live"}, queued=1)) == ["ok"]


def test_draining_workers_run_no_jobs():
    lives = {"a": "live", "b": "live"}

    assert levels(*queue.workers(lives, queued=1, draining=["a"])) == ["ok"]
    assert levels(*queue.workers(lives, queued=0, draining=["a", "b"])) == ["warning"]
    [check] = queue.workers(lives, queued=1, draining=["a", "b"])
    assert (check.level, check.sentence) == ("broken", "No worker takes jobs: a and b drain.")
    assert check.fix.startswith("windlass workers resume a")


def test_workers_with_old_heartbeats_are_named():
    silent = {f"host:{n}": "stale" for n in range(4)}

    live, stale = queue.workers({"a": "live", **silent}, queued=0)

    assert live.sentence == "1 worker live."
    assert stale.sentence == ("4 workers not seen lately: host:0, host:1, host:2 and 1 more.")


def test_jobs_without_a_worker_are_named_by_definition_and_queue():
    mail, bulk = QueuedJobs("mail", "send", 2), QueuedJobs("bulk", "send", 1)
    everywhere, only_mail = (
        WorkerCoverage((), ("send",)),
        WorkerCoverage(("mail",), ("send", "other")),
    )

    assert levels(*queue.unserved([mail, bulk], [everywhere])) == ["ok"]
    [check] = queue.unserved([mail, bulk], [only_mail])
    assert check.sentence == "No live worker serves 1 queued job: send in bulk (1)."
    assert queue.unserved([mail], []) == []


def test_muted_failures_are_listed_beside_alarming_ones():
    found = queue.dead_letter(hour=0, day=2, most=[], muted=1_200)

    assert found.level == "ok"
    assert found.sentence.endswith("2 in the last day. 1,200 jobs of muted causes not counted.")


def test_a_dead_letter_growing_faster_than_over_the_day_is_reported():
    steady = queue.dead_letter(hour=100, day=2400, most=["send"])
    few = queue.dead_letter(hour=9, day=9, most=["send"])
    grows = queue.dead_letter(hour=100, day=150, most=["send"])

    assert levels(steady, few, grows) == ["ok", "ok", "warning"]
    assert "send" in grows.sentence
