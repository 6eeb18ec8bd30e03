"""`windlass jobs update`: by id and by filter."""

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell


def _job(shell: Shell, id: str) -> dict:
    return shell.here("jobs", "show", id, "--json").json


def _enqueue(shell: Shell, *args: str) -> str:
    return shell.here("enqueue", "hello", "name=Ada", *args).out.strip()


def test_a_waiting_job_is_changed_by_the_end_of_its_id(ready: Shell):
    id = _enqueue(ready)

    changed = ready.ok("jobs", "update", id[-8:], "--priority", "high", "--queue", "mail")
    shown = ready.at_terminal("jobs", "update", id, "--in", "2h", "--metadata", '{"team": "a"}')

    assert changed.out.strip() == id
    assert "priority 50 in mail" in shown.out
    job = _job(ready, id)
    assert (job["priority"], job["queue"], job["view"]) == (50, "mail", "scheduled")
    assert job["metadata"] == {"team": "a"}
    assert "changed: priority 100 to 50" in ready.here("jobs", "history", id).out


def test_a_job_that_has_ended_is_a_conflict(ready: Shell):
    id = _enqueue(ready)
    ready.here("jobs", "cancel", id)

    refused = ready.run("jobs", "update", id, "--priority", "1")

    assert refused.code == 5
    assert refused.err.startswith("error[WL3302]")
    assert "cannot be changed: it was canceled" in refused.err


def test_a_job_that_runs_is_a_conflict(ready: Shell):
    file = ready.folder / "go"
    id = ready.here("enqueue", "wait_for", f"file={file}").out.strip()
    worker = ready.start("worker", "jobs.py", "--drain")
    worker.sees("waiting")

    refused = ready.run("jobs", "update", id, "--queue", "mail")
    file.write_text("now", "utf-8")

    assert refused.code == 5
    assert worker.ends() == 0
    assert _job(ready, id)["queue"] == "default"


def test_several_jobs_are_changed_after_a_confirmation(ready: Shell):
    waits, ended = _enqueue(ready), _enqueue(ready)
    ready.here("jobs", "cancel", ended)
    change = ("jobs", "update", waits, ended, "--priority", "low")

    alone = ready.run(*change)
    looked = ready.here(*change, "--dry-run")
    partly = ready.run(*change, "--yes")

    assert (alone.code, looked.lines, partly.code) == (2, [waits, ended], 7)
    assert _job(ready, waits)["priority"] == 200


def test_jobs_of_a_filter_are_changed_as_one_operation(ready: Shell):
    ids = [_enqueue(ready) for _ in range(3)]
    kept = _enqueue(ready, "--queue", "media")
    change = ("jobs", "update", "--where", "queue:default", "--state", "queued", "--queue", "mail")

    told = ready.here(*change, "--dry-run", "--json").json
    done = ready.ok(*change, "--yes", "--json")

    assert (told["total"], told["by_state"]) == (3, {"queued": 3})
    assert (done.json["action"], done.json["done"]) == ("update", 3)
    assert done.json["changes"] == {"queue": "mail"}
    assert "3 jobs changed." in done.err
    assert {_job(ready, id)["queue"] for id in ids} == {"mail"}
    assert _job(ready, kept)["queue"] == "media"
    assert ready.ok("db", "check").code == 0


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--priority", "urgent"),
        ("--in", "soon"),
        ("--at", "yesterday"),
        ("--metadata", "{"),
        ("--metadata", "[]"),
        ("--in", "1h", "--at", "2099-01-01T00:00Z"),
    ],
)
def test_invalid_input_is_an_error_and_changes_nothing(ready: Shell, args):
    id = _enqueue(ready)
    before = _job(ready, id)

    refused = ready.run("jobs", "update", id, *args)

    assert refused.code == 2
    assert _job(ready, id) == before


def test_over_http_it_is_the_same(ready: Shell):
    id = _enqueue(ready)
    far = ("--url", address(ready.start("serve", "--no-auth", "--port", "0")))

    one = ready.here("jobs", "update", id, "--priority", "25", "--json", *far).json
    all_of_them = ready.ok("jobs", "update", "--state", "queued", "--queue", "mail", *far)

    assert one["priority"] == 25
    assert "1 job changed." in all_of_them.err
    assert _job(ready, id)["queue"] == "mail"


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_on_a_database_server_it_is_the_same(shell_on, database):
    shell = shell_on(database.url)
    shell.ok("worker", "jobs.py", "--drain")
    id = _enqueue(shell, "--in", "1h")

    shell.here("jobs", "update", id, "--queue", "mail")
    done = shell.here("jobs", "update", "--state", "scheduled", "--priority", "7", "--json").json

    assert (done["done"], done["failed"]) == (1, 0)
    assert (_job(shell, id)["queue"], _job(shell, id)["priority"]) == ("mail", 7)
    assert shell.ok("db", "check").code == 0
