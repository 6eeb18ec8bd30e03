"""`windlass definitions` from the shell."""

from collections.abc import Callable

import pytest

from tests.support.processes.shell import JOBS, Shell

MORE = """
from windlass import Windlass, cron

wl = Windlass()

@wl.job(schedule=cron("0 2 * * *"))
def nightly() -> None: ...
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_sync_registers_and_lists_what_a_module_declares(
    shell_on: Callable[[str], Shell], database
):
    shell = shell_on(database.url)

    tried = shell.ok("definitions", "sync", "jobs.py", "--dry-run")
    first = shell.ok("definitions", "sync", "jobs.py", "--json").json["items"]
    again = shell.ok("definitions", "sync")

    keys = ["count", "fail", "hello", "login", "wait_for"]
    assert tried.err == "5 of 5 would change.\n"
    assert first == [{"key": key, "change": "new"} for key in keys]
    assert again.err == "0 of 5 changed.\n"
    assert shell.ok("definitions", "list", "-o", "id").lines == keys


def test_sync_registers_schedules_and_marks_what_is_missing(ready: Shell):
    ready.write("more.py", MORE)
    ready.write("jobs.py", JOBS.replace("@wl.job(max_attempts=1)", "@wl.job(max_attempts=2)"))

    done = ready.ok("definitions", "sync", "more.py", "jobs.py", "--json").json["items"]
    gone = ready.ok("definitions", "sync", "more.py", "--mark-missing").lines

    changes = {one["key"]: one["change"] for one in done}
    assert (changes["nightly"], changes["fail"], changes["hello"]) == (
        "new",
        "changed",
        "unchanged",
    )
    assert len(ready.here("schedules", "list", "-o", "id").lines) == 1
    assert "hello\tmissing" in gone
    assert ready.here("definitions", "show", "hello", "--json").json["missing_from_code"] is True


def test_a_sync_needs_direct_access_to_the_database(shell: Shell):
    done = shell.run("definitions", "sync", "jobs.py", "--url", "http://127.0.0.1:9")

    assert done.code == 2
    assert "works on a database" in done.err


def test_a_definition_is_disabled_and_enabled(ready: Shell):
    ready.here("definitions", "disable", "hello")
    refused = ready.run("definitions", "run", "hello", "name=Ada")
    ready.here("definitions", "enable", "hello")
    made = ready.here("definitions", "run", "hello", "name=Ada").out.strip()

    assert refused.code == 5
    assert ready.here("jobs", "show", made, "--json").json["definition"] == "hello"


def test_limits_are_set_unset_and_reset(ready: Shell):
    edited = ready.here(
        "definitions", "limits", "hello", "--max-concurrency", "4", "--rate-limit", "5/s", "--json"
    ).json
    unset = ready.here("definitions", "limits", "hello", "--rate-limit", "none", "--json").json
    ready.here("definitions", "reset", "hello", "max_concurrency")
    wrong = ready.run("definitions", "limits", "hello", "--max-concurrency", "many")

    assert (edited["max_concurrency"], edited["rate_limit"]) == (4, "5/s")
    assert (unset["max_concurrency"], unset["rate_limit"]) == (4, None)
    shown = ready.here("definitions", "limits", "hello").lines
    assert "max_concurrency\t" in shown
    assert wrong.code == 2
    assert wrong.err.startswith('error[WL2007]: max_concurrency cannot be "many".')


def test_the_schema_is_json_for_people_and_programs(ready: Shell):
    schema = ready.here("definitions", "schema", "hello").json

    assert schema["properties"]["name"]["type"] == "string"


def test_a_dry_run_changes_nothing(ready: Shell):
    done = ready.here("definitions", "disable", "hello", "count", "--dry-run")

    assert done.lines == ["hello", "count"]
    assert ready.here("definitions", "show", "hello", "--json").json["enabled"] is True


def test_a_person_sees_state_and_edits(ready: Shell):
    ready.here("definitions", "disable", "hello")

    shown = ready.at_terminal("definitions", "list", width=140).out
    one = ready.at_terminal("definitions", "show", "hello").out

    assert "◌ Disabled" in shown
    assert "● Enabled" in shown
    assert "Say hello." in one
    assert "enabled" in one
    assert "Idempotent" in one


def test_an_unknown_definition_gets_a_suggestion(ready: Shell):
    done = ready.run("definitions", "show", "helo")

    assert done.code == 3
    assert "Did you mean `hello`?" in done.err


def test_a_sync_marks_what_the_named_modules_declared_before(ready: Shell):
    ready.write("more.py", MORE)
    ready.ok("definitions", "sync", "more.py")
    ready.write("jobs.py", JOBS.replace("@wl.job\ndef hello", "def hello"))

    tried = ready.ok("definitions", "sync", "jobs.py", "--dry-run").lines
    kept = ready.here("definitions", "show", "hello", "--json").json
    done = ready.ok("definitions", "sync", "jobs.py").lines

    assert kept["missing_from_code"] is False
    assert "hello\tmissing" in tried
    assert "hello\tmissing" in done
    rows = {one["key"]: one for one in ready.here("definitions", "list", "--json").json["items"]}
    assert {key for key, one in rows.items() if one["missing_from_code"]} == {"hello"}
    ready.write("jobs.py", JOBS)
    assert "hello\tchanged" in ready.ok("definitions", "sync", "jobs.py").lines


def test_a_sync_of_all_modules_marks_all_that_none_declares(ready: Shell):
    ready.write("more.py", MORE)
    ready.ok("definitions", "sync", "more.py")

    done = ready.ok("definitions", "sync").lines  # finds jobs.py

    assert [line for line in done if line.endswith("missing")] == ["nightly\tmissing"]


def test_definitions_are_filtered_and_show_the_activity_of_their_jobs(ready: Shell):
    ready.ok("definitions", "disable", "hello")

    assert ready.here("definitions", "list", "--disabled", "-o", "id").lines == ["hello"]
    assert ready.here("definitions", "list", "--search", "SAY", "-o", "id").lines == ["hello"]
    assert "hello" not in ready.here("definitions", "list", "--not-edited", "-o", "id").lines
    assert "No definitions match." in ready.here("definitions", "list", "--missing").err
    whole = ready.here("definitions", "show", "count", "--json").json
    assert (whole["running"], whole["last_run_at"], whole["workers"]) == (0, None, [])


def test_a_definition_is_created_edited_reset_and_deleted(ready: Shell):
    made = ready.here(
        "definitions", "create", "resize", "--remote", "--attempt-timeout", "2m", "--tag", "slow",
        "--default-payload", '{"width": 320}', "--json",
    ).json  # fmt: skip
    again = ready.run("definitions", "create", "resize", "--remote")
    kept = ready.here("definitions", "create", "resize", "--remote", "--if-exists", "keep")
    ready.here("definitions", "edit", "resize", "--rate-limit", "5/s", "--backoff", "none")
    ready.here("definitions", "edit", "hello", "--queue", "bulk", "--title", "Hello there")
    ready.here("definitions", "edit", "count", "--retention-days", "forever", "--not-idempotent")
    edited = {one["key"]: one for one in ready.here("definitions", "list", "--json").json["items"]}

    assert (made["kind"], made["timeout_seconds"], made["tags"]) == ("remote", 120, ["slow"])
    assert made["default_payload"] == {"width": 320}
    assert (again.code, kept.code, kept.lines) == (5, 0, ["resize"])
    assert edited["resize"]["rate_limit"] == "5/s"
    assert (edited["hello"]["queue"], edited["hello"]["edited"]) == ("bulk", ["title", "queue"])
    assert ready.run("definitions", "edit", "hello").code == 2
    assert ready.run("definitions", "edit", "hello", "--path", "a.b").code == 2
    assert ready.here("definitions", "reset", "--all", "queue", "--yes").lines == ["count", "hello"]
    assert ready.here("definitions", "show", "hello", "--json").json["edited"] == ["title"]
    assert ready.here("definitions", "reset", "--all", "--yes").code == 0
    assert ready.here("definitions", "list", "--edited", "-o", "id").lines == []
    assert ready.here("definitions", "delete", "resize", "--yes").code == 0
    assert ready.run("definitions", "show", "resize").code == 3


def test_the_default_payload_fills_in_missing_fields(ready: Shell):
    given = '{"width": 320, "height": 200}'
    ready.here("definitions", "create", "resize", "--remote", "--default-payload", given)

    [id] = ready.here("enqueue", "resize", "height=100", "-o", "id").lines

    shown = ready.here("jobs", "show", id, "--json").json
    assert shown["payload"] == {"width": 320, "height": 100}
