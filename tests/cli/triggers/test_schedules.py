"""`windlass schedules`: create, change, run and delete from the shell."""

import json
from collections.abc import Callable

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Done, Shell
from windlass.ids import parse_job_id

NIGHTLY = (
    "schedules", "create", "--name", "nightly", "--definition", "hello", "--cron", "0 2 * * *",
    "--tz", "Europe/Berlin", "--payload", '{"name": "Ada"}',
)  # fmt: skip
NOBODY_IS_THERE = ("--url", "http://127.0.0.1:9")


@pytest.fixture
def nightly(ready: Shell) -> Shell:
    """A shell whose database has one schedule, every night at two."""
    ready.here(*NIGHTLY)
    return ready


def listed(shell: Shell) -> list[dict]:
    items: list[dict] = shell.here("schedules", "list", "--json").json["items"]
    return items


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_a_schedule_goes_from_the_shell_to_its_job(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    shell.ok("definitions", "sync", "jobs.py")

    id = shell.ok(*NIGHTLY).out.strip()
    job = shell.ok("schedules", "run", "nightly").out.strip()

    [schedule] = shell.ok("schedules", "list", "--json").json["items"]
    assert (schedule["id"], schedule["timezone"]) == (id, "Europe/Berlin")
    assert shell.ok("jobs", "show", job, "--json").json["payload"] == {"name": "Ada"}
    assert shell.ok("schedules", "show", id[-8:], "--json").json["name"] == "nightly"


def test_only_the_given_options_are_changed(nightly: Shell):
    nightly.here("schedules", "update", "nightly", "--cron", "30 3 * * *", "--name", "later")

    [schedule] = listed(nightly)
    assert (schedule["name"], schedule["cron"]) == ("later", "30 3 * * *")
    assert (schedule["timezone"], schedule["payload"]) == ("Europe/Berlin", {"name": "Ada"})


def test_it_is_disabled_enabled_and_deleted(nightly: Shell):
    off = nightly.here("schedules", "disable", "nightly", "--json").json
    on = nightly.here("schedules", "enable", "nightly", "--json").json
    asked = nightly.run("schedules", "delete", "nightly")
    nightly.here("schedules", "delete", "nightly", "--yes")

    assert (off["enabled"], off["next_run_at"]) == (False, None)
    assert on["next_run_at"] is not None
    assert asked.code == 2
    assert asked.err.startswith("error[WL2002]: deleting 1 schedule needs a confirmation.")
    assert listed(nightly) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--payload", "{name: Ada}"], "error[WL2001]: --payload is not JSON."),
        (["--payload", "[1]"], "error[WL2001]: --payload is not a JSON object."),
        (["--enabled", "yes"], "error[WL2001]: invalid value for '--enabled'"),
        (["--enabled", "TRUE"], "error[WL2001]: invalid value for '--enabled'"),
        (["--every", "15m"], "error[WL2001]: --cron and --every exclude each other."),
        (["--dedupe-window", "soon"], 'error[WL2007]: dedupe_window cannot be "soon".'),
    ],
)
def test_invalid_input_is_refused_before_any_request(shell: Shell, wrong, said):
    done = shell.run(*NIGHTLY, *wrong, *NOBODY_IS_THERE)

    assert done.code == 2
    assert done.err.startswith(said)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([], "a schedule needs its times"),
        (["--every", "1h", "--tz", "UTC"], "--tz says nothing about --every"),
        (["--at", "soon"], 'at cannot be "soon"'),
    ],
)
def test_missing_or_contradicting_times_are_refused(shell: Shell, times, said):
    done = shell.run(
        "schedules", "create", "--name", "x", "--definition", "hello", *times, *NOBODY_IS_THERE
    )

    assert done.code == 2
    assert said in done.err


def test_an_instant_without_an_offset_is_in_the_zone(ready: Shell):
    made = ready.here(
        "schedules", "create", "--name", "launch", "--definition", "hello",
        "--at", "2030-01-31T09:00", "--tz", "Europe/Berlin", "--payload", '{"name": "Ada"}',
        "--enabled", "false", "--json",
    ).json  # fmt: skip

    assert (made["type"], made["at"]) == ("once", "2030-01-31T08:00:00.000000Z")
    assert made["enabled"] is False


def test_a_dry_run_shows_the_schedule_and_stores_nothing(nightly: Shell):
    made = nightly.here(*NIGHTLY, "--name", "second", "--dry-run", "--json")
    changed = nightly.here(
        "schedules", "update", "nightly", "--tz", "UTC", "--dry-run", "--json"
    ).json
    wrong = nightly.run(*NIGHTLY, "--dry-run")
    shown = nightly.here("schedules", "disable", "nightly", "--dry-run")

    assert (made.json["name"], made.json["cron"]) == ("second", "0 2 * * *")
    assert made.json["next_run_at"] is not None
    assert "Nothing was kept." in made.err
    assert changed["timezone"] == "UTC"
    assert wrong.code == 5
    [schedule] = listed(nightly)
    assert (schedule["timezone"], schedule["enabled"]) == ("Europe/Berlin", True)
    assert shown.out.strip() == schedule["id"]


def test_a_schedule_that_never_fires_is_refused_by_name(ready: Shell):
    done = ready.run(*NIGHTLY, "--cron", "0 2 31 2 *")

    assert done.code == 2
    assert done.err.startswith(
        'error[WL4403]: "nightly" cannot be saved: "0 2 31 2 *" never fires.'
    )


def test_a_schedule_is_given_times_of_another_type(nightly: Shell):
    nightly.here("schedules", "update", "nightly", "--every", "15m")
    every = listed(nightly)[0]
    nightly.here("schedules", "update", "nightly", "--init", "--run-once", "false")
    start = listed(nightly)[0]
    mixed = nightly.run("schedules", "update", "nightly", "--every", "15m", "--run-once", "false")

    assert (every["type"], every["interval_seconds"], every["cron"]) == ("interval", 900, None)
    assert (start["type"], start["run_once"], start["interval_seconds"]) == ("init", False, None)
    assert (mixed.code, "error[WL4104]" in mixed.err) == (2, True)


def test_warnings_are_printed_when_a_schedule_is_saved(nightly: Shell):
    done = nightly.here("schedules", "update", "nightly", "--every", "15m", "--dedupe-window", "1h")
    shown = nightly.here("schedules", "show", "nightly", "--json").json

    assert "Note: The dedupe window of 1h has no dedupe_key" in done.err
    assert "swallowed by the dedupe window" in done.err
    assert len(shown["warnings"]) == 2


def test_schedules_are_filtered(nightly: Shell):
    nightly.here("schedules", "create", "--name", "poll", "--definition", "hello",
                 "--every", "1h", "--enabled", "false", "--payload", '{"name": "Ada"}')  # fmt: skip

    def names(*filters: str) -> list[str]:
        found = nightly.here("schedules", "list", *filters, "--json").json
        return [item["name"] for item in found["items"]]

    assert names("--type", "interval") == names("--enabled", "false") == ["poll"]
    assert names("--definition", "hello", "--enabled", "true") == ["nightly"]
    assert names("--failing") == names("--origin", "code") == []


def test_a_name_that_two_tenants_use_is_ambiguous(nightly: Shell):
    nightly.here(*NIGHTLY, "--tenant", "acme")

    done = nightly.run("schedules", "show", "nightly")
    theirs = nightly.here("schedules", "show", "nightly", "--tenant", "acme", "--json").json

    assert done.code == 2
    assert done.err.startswith('error[WL3303]: several tenants have a trigger "nightly".')
    assert theirs["tenant_id"] == "acme"


def test_a_person_sees_words_glyphs_and_relative_times(nightly: Shell):
    shown = nightly.at_terminal("schedules", "list", width=140).out
    one = nightly.at_terminal("schedules", "show", "nightly").out

    assert "● Enabled" in shown
    assert "every day at 02:00 (Europe/Berlin)" in shown
    assert " in " in shown
    assert "every day at 02:00 (Europe/Berlin)" in one
    assert '"name": "Ada"' in one
    assert "windlass schedules disable" in one


def test_a_program_gets_ids_tabs_and_iso_times(nightly: Shell):
    header, row = (line.split("\t") for line in nightly.here("schedules", "list").lines)
    schedule = dict(zip(header, row, strict=True))

    assert parse_job_id(schedule["id"])
    assert nightly.here("schedules", "list", "-o", "id").out.strip() == schedule["id"]
    assert schedule["next_run_at"].endswith("Z")
    assert (schedule["type"], schedule["cron"]) == ("cron", "0 2 * * *")


def test_over_http_it_is_the_same(nightly: Shell):
    server = nightly.start("serve", "--no-auth", "--port", "0")
    far = ("--url", address(server))

    def ask(*args: str) -> Done:
        return nightly.here(*args, *far)

    direct = nightly.here("schedules", "list", "--json").json
    listed = ask("schedules", "list", "--json").json
    job = ask("schedules", "run", "nightly").out.strip()
    lost = nightly.run("schedules", "show", "weekly", *far)

    assert listed == direct
    assert ask("jobs", "show", job, "--json").json["source"] == "manual"
    assert lost.code == 3
    assert json.loads(ask("schedules", "disable", "nightly", "--json").out)["enabled"] is False


def test_an_empty_list_is_no_error(ready: Shell):
    done = ready.here("schedules", "list", "--json")

    assert done.json == {"items": [], "next_cursor": None}
