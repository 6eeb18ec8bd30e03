"""`windlass enqueue`, as a process."""

import re
from collections.abc import Callable

import pytest

from tests.support.processes.shell import Shell
from windlass.cli.main import run

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_a_job_goes_from_the_shell_to_its_result(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    worker = shell.start("worker", "jobs.py")
    worker.sees("Running")

    done = shell.run("enqueue", "hello", "name=3", "--wait", "--timeout", "20s")

    assert done.code == 0, (done, worker.text)
    assert done.out == "Hello, 3!\n"
    assert "completed" in done.err
    worker.stop()
    assert worker.ends() == 0


def test_a_program_gets_the_id_alone(ready: Shell):
    done = ready.ok("enqueue", "hello", "name=Ada")

    assert UUID.fullmatch(done.out.strip())
    assert not done.err


def test_json_has_the_receipt_and_the_job(ready: Shell):
    options = ["--priority", "high", "--in", "1h", "--queue", "mail", "--dedupe-key", "k"]

    body = ready.ok("enqueue", "count", "number=3", "label=7", *options, "--json").json
    again = ready.ok("--json", "enqueue", "count", "number=3", *options)

    assert body["receipt"]["status"] == "created"
    job = body["job"]
    assert job["id"] == body["receipt"]["job_id"]
    assert job["payload"] == {"number": 3, "label": "7"}
    assert (job["state"], job["view"], job["priority"]) == ("queued", "scheduled", 50)
    assert (job["queue"], job["dedupe_key"]) == ("mail", "k")
    assert again.json["receipt"]["status"] == "existing"
    assert again.json["receipt"]["job_id"] == job["id"]


def test_a_job_is_enqueued_on_behalf_of_a_user(ready: Shell):
    made = ready.ok("enqueue", "hello", "name=Ada", "--created-by", "ada@example.com", "--json")
    refused = ready.run("enqueue", "hello", "name=Ada", "--created-by", "token:1")
    found = ready.ok("jobs", "list", "--where", "by:for:ada@example.com", "--json")

    assert made.json["job"]["created_by"] == "for:ada@example.com"
    assert [job["id"] for job in found.json["items"]] == [made.json["job"]["id"]]
    assert (refused.code, "error[WL2007]: created_by cannot be" in refused.err) == (2, True)


def test_an_equal_job_is_no_error(ready: Shell):
    first = ready.ok("enqueue", "hello", "name=Ada", "--idempotency-key", "k")

    second = ready.ok("enqueue", "hello", "name=Bob", "--idempotency-key", "k")

    assert second.out == first.out
    assert second.err.startswith("An equal job exists")


def test_a_job_waits_for_its_parent_given_by_the_end_of_its_id(ready: Shell):
    parent = ready.ok("jobs", "enqueue", "hello", "name=Ada", "--hold").out.strip()

    child = ready.ok("enqueue", "hello", "name=Bob", "--after", parent[-8:], "--json").json

    assert child["job"]["view"] == "waiting"
    reason = ready.here("jobs", "explain", child["receipt"]["job_id"])
    assert parent[-8:] in reason.out


def test_a_time_without_a_zone_is_the_local_one(ready: Shell):
    due = ready.ok(
        "enqueue", "hello", "name=Ada", "--at", "2099-01-31 09:00", "--json", TZ="Asia/Tokyo"
    )
    own = ready.ok("enqueue", "hello", "name=Ada", "--at", "2099-01-31T09:00+01:00", "--json")

    assert due.json["job"]["due_at"] == "2099-01-31T00:00:00.000000Z"
    assert own.json["job"]["due_at"] == "2099-01-31T08:00:00.000000Z"


def test_a_dry_run_checks_and_stores_nothing(ready: Shell):
    fine = ready.ok("enqueue", "hello", "name=Ada", "--dry-run")
    wrong = ready.run("enqueue", "hello", "--dry-run")

    assert "nothing was stored" in fine.err
    assert wrong.code == 2
    assert ready.here("jobs", "list", "-o", "id").out == ""


def test_a_payload_may_come_through_a_pipe(ready: Shell):
    body = ready.ok("enqueue", "hello", "-", "--json", stdin='{"name": "Ada"}').json

    assert body["job"]["payload"] == {"name": "Ada"}


def test_unregistered_definitions_are_read_from_the_modules_in_the_settings(shell: Shell):
    shell.write("windlass.toml", 'modules = ["jobs.py"]\n')

    assert shell.ok("enqueue", "hello", "name=Ada").out


def test_a_person_sees_the_next_step(ready: Shell):
    done = ready.at_terminal("enqueue", "hello", "name=Ada")

    assert done.code == 0
    assert "windlass jobs show" in done.out


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["helo", "name=Ada"], 3, 'error[WL2107]: no definition named "helo".'),
        (["helo", "name=Ada"], 3, "Did you mean `hello`?"),
        (["hello"], 2, 'error[WL2004]: payload for "hello" is not valid.'),
        (["hello", "nme=Ada"], 2, "did you mean name?"),
        (["count", "number=three"], 2, '/number: "three" is not a whole number'),
        (["hello", "--payload", "{"], 2, "error[WL2001]: --payload is not JSON."),
        (["hello", "name"], 2, 'error[WL2001]: "name" is not key=value.'),
        (["hello", "name=a", "--in", "soon"], 2, "error[WL2007]: in cannot be"),
        (["hello", "name=a", "--at", "noon"], 2, "error[WL2007]: at cannot be"),
        (["hello", "name=a", "--at", "2099-01-01T00:00Z", "--in", "1h"], 2, "error[WL2007]"),
        (["hello", "name=a", "--priority", "urgent"], 2, "error[WL2007]: priority cannot be"),
        (["hello", "name=a", "--tenant", "nobody"], 3, 'error[WL2201]: no tenant "nobody".'),
        (["hello", "name=a", "--after", "abcdef12"], 3, "error[WL3301]"),
        (["hello", "--payload", '{"name": "\\u0000"}'], 2, "error[WL2006]"),
        (["hello", "--payload", '{"name": "\\ud800"}'], 2, "error[WL2006]"),
        ([], 2, "error[WL2001]: missing argument 'DEFINITION'."),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_invalid_input_is_refused_with_a_reason_and_a_code(
    ready: Shell, monkeypatch, capsys, args, code, says
):
    # In this process: nothing but the words and the code is looked at.
    monkeypatch.chdir(ready.folder)

    ended = run(["enqueue", *args])

    said = capsys.readouterr()
    assert (ended, said.out) == (code, "")
    assert says in said.err
    assert "→" in said.err
    assert "Traceback" not in said.err


def test_a_refusal_reaches_the_shell_and_debug_shows_where_it_came_from(ready: Shell):
    plain = ready.run("enqueue", "helo")
    debugged = ready.run("enqueue", "helo", "--debug")

    assert (plain.code, debugged.code) == (3, 3)
    assert "Traceback" not in plain.err
    assert "Traceback" in debugged.err
    assert debugged.err.endswith(plain.err)
