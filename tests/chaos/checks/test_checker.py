"""The checker of chaos runs notices every planted violation."""

from pathlib import Path

import pytest

from tests.chaos.checks import test_lost_attempts
from tests.chaos.checks.checker import INVARIANTS
from tests.chaos.checks.database_records import AttemptRow, ScheduleRow
from tests.chaos.checks.evidence import a_clean_run
from tests.chaos.processes.ledger_lines import digest


@pytest.fixture
def book():
    return a_clean_run()


def test_a_clean_run_passes(book):
    assert book.broken() == set()
    assert book.verdict().passed


def test_an_acknowledged_job_that_is_gone_is_lost(book):
    del book.jobs["job 1"]

    assert "lost" in book.broken()


def test_a_job_in_no_legal_state_is_lost(book):
    book.change("job 1", state="parked")

    assert "lost" in book.broken()


def test_a_waiting_job_is_unfinished(book):
    book.change("job 1", state="queued", outcome=None, lease_token=0, attempts=0)

    assert "unfinished" in book.broken()


def test_a_job_with_two_rows_ended_twice(book):
    twin = book.jobs["job 1"]
    book.jobs["its twin"] = twin

    assert "ended twice" in book.broken()


def test_an_attempt_after_a_success_is_a_second_end(book):
    book.attempts = [AttemptRow("job lost once", 1, "succeeded")]

    assert book.broken() == {"ended twice"}


def test_a_success_of_a_job_that_is_dead_lettered_is_a_second_end(book):
    book.change("job 1", state="dead_letter")

    assert "ended twice" in book.broken()


def test_the_result_of_an_earlier_attempt_is_a_stale_end(book):
    book.change("job lost once", result={"fence": 1})

    assert book.broken() == {"stale end accepted"}


def test_a_completed_job_whose_last_attempt_had_no_effect_is_a_stale_end(book):
    book.lines = [
        line for line in book.lines if (line["what"], line.get("job")) != ("effect", "job 1")
    ]

    assert book.broken() == {"stale end accepted"}


def test_two_starts_under_one_token_are_noticed(book):
    book.start("job 1")

    assert "lease token reused" in book.broken()


def test_a_start_under_a_token_that_the_row_does_not_know_is_noticed(book):
    book.start("job 1", 2)

    assert "lease token reused" in book.broken()


@pytest.mark.parametrize("outcome", ["failed", "released"])
def test_a_run_beside_one_that_kept_its_lease_is_noticed(book, outcome):
    book.lose("job overlapping")
    book.attempts = [row for row in book.attempts if row.job != "job overlapping"]
    book.attempts.append(AttemptRow("job overlapping", 1, outcome))
    book.end("job overlapping", 1, how="raised")

    assert "overlap without a lost lease" in book.broken()


def test_a_run_beside_one_that_lost_its_lease_is_allowed(book):
    book.end("job lost once", 1)

    assert book.broken() == set()


def test_more_runs_at_once_than_a_limit_allows_are_noticed(book):
    ids = [f"limited {number}" for number in range(3)]
    for id in ids:
        book.acknowledge(id, "limited")
        book.start(id, definition="limited")
        book.store(id, definition="limited")
    for id in ids:
        book.end(id)

    assert book.broken() == {"limits exceeded"}


def test_a_limit_slot_held_by_an_ended_job_is_noticed(book):
    book.holds = ["job 1"]

    assert book.broken() == {"limits exceeded"}


def test_two_jobs_with_one_idempotency_key_are_noticed(book):
    book.change("job 0", idempotency_key="key")
    book.change("job 1", idempotency_key="key")

    assert book.broken() == {"duplicates"}


def test_two_runs_at_once_under_one_dedupe_key_are_noticed(book):
    for id in ("first", "second"):
        book.acknowledge(id, "deduped")
        book.start(id, definition="deduped")
        book.store(id, definition="deduped", dedupe_key="key")
    book.end("first")
    book.end("second")

    assert book.broken() == {"duplicates"}


def test_two_active_jobs_with_one_dedupe_key_are_noticed(book):
    for id in ("first", "second"):
        book.store(id, state="queued", outcome=None, dedupe_key="key", lease_token=0, attempts=0)

    assert book.broken() == {"duplicates", "unfinished"}


@pytest.mark.parametrize("number", [1, 2])
def test_a_due_time_without_a_job_is_lost(book, number):
    del book.jobs[f"beat {number}"]

    assert "due times lost or doubled" in book.broken()


def test_a_due_time_with_two_jobs_is_noticed(book):
    book.change("beat 2", trigger_due_at=102.0)

    assert "due times lost or doubled" in book.broken()


def test_a_schedule_that_never_fired_is_noticed(book):
    book.schedules.append(ScheduleRow("silent", 2.0))
    book.note("fired", schedule="silent", next_run_at=106.0)

    assert book.broken() == {"due times lost or doubled"}


def test_an_event_without_a_job_is_noticed(book):
    book.note("emitted", number=2)

    assert book.broken() == {"events lost or doubled"}


def test_an_event_with_two_jobs_is_noticed(book):
    book.complete("heard again", "heard")

    assert book.broken() == {"events lost or doubled"}


def test_a_healthy_job_in_the_dead_letter_is_noticed(book):
    book.change("job lost once", state="dead_letter", outcome="lost", worker_deaths=3)

    assert book.broken() == {"innocent jobs dead-lettered"}


def test_a_job_whose_workers_were_killed_three_times_may_be_dead_lettered(book):
    book.change("job lost once", state="dead_letter", outcome="lost", worker_deaths=3)
    for fence in (1, 2, 3):
        book.note("hit", runs=[["job lost once", fence]])

    assert book.broken() == set()


def test_a_canceled_job_without_a_cancel_is_noticed(book):
    book.change("job 1", state="canceled", outcome=None)

    assert book.broken() == {"innocent jobs dead-lettered"}


def test_a_job_canceled_by_the_operator_is_allowed(book):
    book.change("job 1", state="canceled", outcome=None)
    book.note("canceling", job="job 1")

    assert book.broken() == set()


def test_a_changed_payload_is_noticed(book):
    book.lines[1]["digest"] = digest(2, "")

    assert book.broken() == {"payloads altered"}


def test_a_run_in_a_worker_that_does_not_know_the_definition_is_noticed(book):
    book.note("ready", release="1")
    book.complete("new", "newcomer")

    assert book.broken() == {"unknown definitions run"}


def test_wrong_counters_are_noticed(book):
    book.counts = {("default", "default", "quick"): (0, 0, 0, 5, 0, 0)}

    assert book.broken() == {"counters off"}


def test_an_idle_worker_is_noticed(book):
    book.note("idle", idler="worker1")

    assert book.broken() == {"workers alive but idle"}


def test_a_left_over_process_is_noticed(book):
    book.leftovers = ["4711 sleep 3600"]

    assert book.broken() == {"processes left behind"}


def test_a_fault_without_effect_fails_the_run(book):
    book.faults = ["worker killed", "disk full"]
    book.note("fault", kind="disk full", bites=0, evidence="", recovered=None)

    assert book.broken() == {"faults without a bite"}


def test_a_fault_that_was_never_injected_fails_the_run(book):
    book.faults = ["worker killed", "disk full"]

    assert book.broken() == {"faults without a bite"}


def test_a_misbehaving_handler_that_never_ran_fails_the_run(book):
    book.store("job poison", definition="poison", state="dead_letter", outcome="lost")

    assert book.broken() == {"faults without a bite"}


def test_every_invariant_is_violated_by_a_test():
    source = Path(__file__).read_text() + Path(test_lost_attempts.__file__).read_text()

    assert [name for name in INVARIANTS if f'"{name}"' not in source] == []
