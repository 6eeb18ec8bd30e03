"""`windlass dead …`."""

import json

import pytest

from tests.support.processes.shell import Shell


@pytest.fixture
def failed(ready: Shell) -> Shell:
    """Two causes: one of three jobs, one of a single job with a secret."""
    for _ in range(3):
        ready.here("enqueue", "fail", "why=out of paper")
    ready.here("enqueue", "login", "user=ada", "secret=hunter2-hunter2")
    ready.ok("worker", "jobs.py", "--drain")
    return ready


def _groups(shell: Shell) -> dict[str, dict]:
    found = shell.here("dead", "groups", "--json").json["items"]
    return {group["definition"]: group for group in found}


def test_failures_are_grouped_by_cause(failed: Shell):
    groups = _groups(failed)
    person = failed.at_terminal("dead", "groups", width=140).out

    assert {key: group["count"] for key, group in groups.items()} == {"fail": 3, "login": 1}
    assert groups["fail"]["fingerprint"][:8] in person
    assert "out of paper" in person
    assert "hunter2" not in person


def test_jobs_of_one_cause_are_listed(failed: Shell):
    cause = _groups(failed)["fail"]["fingerprint"][:8]

    ids = failed.ok("dead", "list", "--cause", cause, "-o", "id").lines
    everything = failed.here("dead", "list", "--json").json["items"]

    assert len(ids) == 3
    assert len(everything) == 4
    assert failed.here("dead", "list", "--cause", "none").err == "No dead-lettered jobs match.\n"
    shown = failed.here("dead", "show", ids[0], "--json").json
    assert shown["last_error"] == "ValueError: out of paper"


def test_all_jobs_of_a_cause_are_retried(failed: Shell):
    cause = _groups(failed)["fail"]["fingerprint"]

    alone = failed.run("dead", "retry", "--cause", cause)
    asked = failed.at_terminal("dead", "retry", "--cause", cause, types="y\n")

    assert alone.code == 2
    assert "Retrying 3 jobs" in asked.out
    assert "3 jobs retried." in asked.out
    assert list(_groups(failed)) == ["login"]


def test_without_flags_no_job_is_changed(failed: Shell):
    assert failed.run("dead", "retry", "--yes").code == 2
    assert failed.run("dead", "discard", "--yes").code == 2
    assert len(failed.here("dead", "list", "-o", "id").lines) == 4


def test_jobs_are_discarded_by_id_and_by_definition(failed: Shell):
    one, *_ = failed.here("dead", "list", "--definition", "fail", "-o", "id").lines

    single = failed.here("dead", "discard", one, "--yes")
    rest = failed.ok("dead", "discard", "--definition", "fail", "--yes")

    assert single.out.strip() == one
    assert "2 jobs deleted." in rest.err
    assert list(_groups(failed)) == ["login"]


def test_a_job_is_retried_with_another_payload(failed: Shell):
    id = failed.here("dead", "list", "--definition", "fail", "-o", "id").lines[0]

    checked = failed.here("dead", "edit-retry", id, "why=no ink", "--dry-run").json
    edited = failed.ok("dead", "edit-retry", id[-8:], "why=no ink", "--json").json

    assert checked == {"why": "no ink"}
    assert (edited["id"], edited["state"]) == (id, "queued")
    assert edited["payload"] == {"why": "no ink"}
    assert failed.run("dead", "edit-retry", id, "why=again").code == 5


def test_a_payload_that_does_not_fit_changes_nothing(failed: Shell):
    id = failed.here("dead", "list", "--definition", "fail", "-o", "id").lines[0]

    wrong = failed.run("dead", "edit-retry", id, "--payload", '{"why": 3}')

    assert wrong.code == 2
    assert wrong.err.startswith("error[WL2004]")
    assert failed.run("dead", "edit-retry", id).code == 2
    assert failed.here("jobs", "show", id, "--json").json["state"] == "dead_letter"


def test_a_masked_secret_is_never_written_back(failed: Shell):
    id = failed.here("dead", "list", "--definition", "login", "-o", "id").lines[0]
    whole = json.dumps({"user": "bob", "secret": "tr0ub4dor-tr0ub4dor"})

    partly = failed.run("dead", "edit-retry", id, "user=bob")
    given = failed.here("dead", "edit-retry", id, "--payload", whole, "--json").json

    assert partly.code == 2
    assert "secrets" in partly.err
    assert given["payload"] == {"user": "bob", "secret": "•••"}


def test_an_empty_dead_letter_says_so(ready: Shell):
    assert ready.here("dead", "groups").err == "The dead letter is empty.\n"
    assert ready.here("dead", "list").err == "The dead letter is empty.\n"
