"""`windlass jobs …`, as processes on one prepared database."""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.shell import JOBS, Done, Shell
from windlass.core.jobs.models import NewJob
from windlass.ids import DefinitionKey, JobId, uuid7


@pytest.fixture(scope="session")
def lived_jobs(tmp_path_factory: pytest.TempPathFactory, known_jobs: Path) -> Path:
    """A database with a job for every end state, and one that waits; created once."""
    shell = Shell(tmp_path_factory.mktemp("lived"))
    shell.write("jobs.py", JOBS)
    file = shell.folder / "windlass.db"
    shutil.copy(known_jobs, file)
    shell.here("enqueue", "hello", "name=Ada")
    shell.here("enqueue", "fail", "why=a\tb\nc")
    shell.here("enqueue", "wait_for", "file=jobs.py")
    shell.here("enqueue", "login", "user=ada", "secret=hunter2-hunter2")
    shell.ok("worker", "jobs.py", "--drain")
    shell.here("enqueue", "count", "number=3", "--in", "1h")
    return file


@pytest.fixture
def lived(shell: Shell, lived_jobs: Path) -> Shell:
    shutil.copy(lived_jobs, shell.folder / "windlass.db")
    return shell


def _by_definition(shell: Shell) -> dict[str, dict[str, Any]]:
    return {job["definition"]: job for job in shell.here("jobs", "list", "--json").json["items"]}


def test_a_program_reads_lists_in_the_format_it_asks_for(lived: Shell):
    tsv = [line.split("\t") for line in lived.ok("jobs", "list").lines]
    table = list(csv.DictReader(io.StringIO(lived.ok("jobs", "list", "-o", "csv").out)))
    body = lived.ok("jobs", "list", "--json").json
    lines = [json.loads(line) for line in lived.ok("jobs", "list", "-o", "jsonl").lines]
    ids = lived.ok("jobs", "list", "-o", "id").lines

    assert tsv[0][:3] == ["id", "view", "definition"]
    assert [row[0] for row in tsv[1:]] == ids
    assert {len(row) for row in tsv} == {len(tsv[0])}
    assert [row["id"] for row in table] == ids
    assert body["items"] == lines
    assert [item["id"] for item in lines] == ids
    assert body["next_cursor"] is None
    # Newest first, ISO times, nothing cut.
    assert [row["view"] for row in table] == [
        "scheduled", "dead_letter", "completed", "dead_letter", "completed",
    ]  # fmt: skip
    assert datetime.fromisoformat(table[0]["created_at"]).tzinfo == UTC
    # A cell is one line: what does not print is escaped.
    assert table[3]["last_error"] == r"ValueError: a\tb\nc"
    assert "ValueError: a\\tb\\nc" in tsv[4]


def test_a_list_is_filtered_by_state_view_and_definition(lived: Shell):
    def found(*args: str) -> list[str]:
        items = lived.ok("jobs", "list", "--json", *args).json["items"]
        return [item["definition"] for item in items]

    assert found("--state", "dead_letter") == ["login", "fail"]
    assert found("--state", "scheduled,completed") == ["count", "wait_for", "hello"]
    assert found("--state", "completed", "--definition", "hello") == ["hello"]
    assert found("--state", "running") == []
    assert lived.ok("jobs", "list", "--state", "running").err == "No jobs match.\n"


def test_a_list_continues_from_its_cursor(lived: Shell):
    first = lived.ok("jobs", "list", "--limit", "3", "--json").json
    second = lived.ok(
        "jobs", "list", "--limit", "3", "--cursor", first["next_cursor"], "--json"
    ).json

    assert len(first["items"]) == 3
    assert [job["definition"] for job in second["items"]] == ["fail", "hello"]
    assert second["next_cursor"] is None


def test_a_person_sees_glyphs_relative_times_and_short_ids(lived: Shell):
    done = lived.at_terminal("jobs", "list", width=90)
    plain = lived.at_terminal("jobs", "list", width=60, NO_COLOR="1")

    assert "✓ Completed" in done.out
    assert "✕ Dead letter" in done.out
    assert "◷ Scheduled" in done.out
    assert re.search(r" (now|\d+ s ago|\d+ min ago) ", done.out)
    assert "\x1b[32m" in done.out
    assert "\x1b" not in plain.out
    assert max(map(len, plain.lines)) <= 60
    # What matters least is left out before anything that matters is cut to nothing.
    assert all(name in plain.out for name in ("hello", "count", "LAST ERROR"))
    assert "QUEUE" not in plain.out


def test_one_job_is_shown_whole_with_its_secrets_hidden(lived: Shell):
    id = _by_definition(lived)["login"]["id"]

    body = lived.ok("jobs", "show", id[-6:], "--json").json
    person = lived.at_terminal("jobs", "show", id[-8:], "-v").out
    piped = lived.ok("jobs", "show", id).out

    assert body["payload"] == {"user": "ada", "secret": "•••"}
    assert body["state"] == "dead_letter"
    assert "Traceback" in body["error_trace"]
    for text in (json.dumps(body), person, piped):
        assert "hunter2" not in text
    assert "✕ Dead letter" in person
    assert "windlass jobs retry" in person
    assert f"id\t{id}" in piped


def test_attempts_and_state_changes_are_listed_in_order(lived: Shell):
    id = _by_definition(lived)["fail"]["id"]

    [attempt] = lived.ok("jobs", "attempts", id, "--json").json["items"]
    history = lived.ok("jobs", "history", id, "--json").json["items"]

    assert (attempt["number"], attempt["outcome"]) == (1, "failed")
    assert isinstance(attempt["duration_ms"], int)
    assert [step["to_state"] for step in history] == ["queued", "running", "failed", "dead_letter"]
    assert "Failed" in lived.at_terminal("jobs", "attempts", id).out
    assert "Dead letter" in lived.at_terminal("jobs", "history", id).out


def test_log_lines_are_printed_and_followed_to_the_end(lived: Shell):
    id = _by_definition(lived)["wait_for"]["id"]

    piped = lived.ok("jobs", "logs", id).out
    body = json.loads(lived.ok("jobs", "logs", id, "-f", "--json").out)
    listed = lived.here("jobs", "logs", id, "--json").json

    assert piped.endswith("\tinfo\twaiting file=jobs.py\n")
    assert (body["message"], body["fields"]) == ("waiting", {"file": "jobs.py"})
    assert listed == {"items": [body]}
    assert lived.here("jobs", "logs", id, "--level", "warn").out == ""


def test_a_job_is_explained(lived: Shell):
    id = _by_definition(lived)["count"]["id"]

    assert lived.ok("jobs", "explain", id).out.startswith("It is due in ")
    assert lived.ok("jobs", "explain", id, "--json").json["code"] == "due_later"


def test_a_job_is_run_now_canceled_and_retried(lived: Shell):
    id = _by_definition(lived)["count"]["id"]

    run = lived.ok("jobs", "run-now", id, "--json").json
    canceled = lived.ok("jobs", "cancel", id, "--reason", "a mistake", "--json").json
    retried = lived.ok("jobs", "retry", id[-8:])

    assert run["view"] == "queued"
    assert (canceled["state"], canceled["reason"]) == ("canceled", "a mistake")
    assert retried.out.strip() == id
    who = [step["actor"] for step in lived.here("jobs", "history", id, "--json").json["items"]]
    assert who.count(who[0]) == len(who)


def test_a_dry_run_changes_nothing(lived: Shell):
    id = _by_definition(lived)["count"]["id"]

    lived.ok("jobs", "cancel", id, "--dry-run")

    assert lived.here("jobs", "show", id, "--json").json["state"] == "queued"


def test_several_jobs_need_a_confirmation(lived: Shell):
    dead = lived.here("jobs", "list", "--state", "dead_letter", "-o", "id").lines

    alone = lived.run("jobs", "retry", *dead)
    refused = lived.at_terminal("jobs", "retry", *dead, types="n\n")
    agreed = lived.at_terminal("jobs", "retry", *dead, types="y\n")

    assert (alone.code, alone.err.split(":")[0]) == (2, "error[WL2002]")
    assert "--yes" in alone.err
    assert lived.run("jobs", "retry", *dead, "--no-input").code == 2
    assert refused.code == 130
    assert "Retrying 2 jobs" in refused.out
    assert agreed.code == 0
    assert lived.here("jobs", "list", "--state", "queued", "--definition", "fail", "-o", "id").out


def test_a_partial_success_has_its_own_exit_code(lived: Shell):
    jobs = _by_definition(lived)
    ids = [jobs["wait_for"]["id"], jobs["fail"]["id"], "abcdef12"]

    partly = lived.run("jobs", "retry", *ids, "--yes")
    none = lived.run("jobs", "retry", *ids[::2], "--yes")

    assert partly.code == 7
    assert partly.out.strip() == ids[1]
    assert "error[WL3302]" in partly.err
    assert "error[WL3301]" in partly.err
    assert "1 done, 2 refused." in partly.err
    assert none.code == 5


def test_a_job_that_has_ended_cannot_be_canceled(lived: Shell):
    id = _by_definition(lived)["wait_for"]["id"]

    done = lived.run("jobs", "cancel", id)

    assert done.code == 5
    assert done.err.startswith(f"error[WL3302]: job {id[-8:]} cannot be canceled: it completed")


def test_wait_reports_how_a_job_ended(lived: Shell):
    jobs = _by_definition(lived)

    ended = lived.ok("jobs", "wait", jobs["wait_for"]["id"])
    failed = lived.run("jobs", "wait", jobs["fail"]["id"], "--json")
    late = lived.run("jobs", "wait", jobs["count"]["id"], "--timeout", "100ms")

    assert ended.out == "done\n"
    assert failed.code == 8
    assert failed.json["state"] == "dead_letter"
    assert failed.err.startswith("error[WL3401]")
    assert late.code == 9
    assert late.err.startswith("error[WL3402]")


def test_an_id_that_fits_several_jobs_lists_them(ready: Shell, do: Callable[..., None]):
    twins = [JobId(uuid7(1_700_000_000_000, counter, 0xABCDEF12)) for counter in (1, 2)]

    async def enqueue(app):
        engine = await app.ready()
        for id in twins:
            await engine.jobs.enqueue(
                NewJob(id=id, definition=DefinitionKey("hello"), payload="{}")
            )

    do(ready, enqueue)

    done: Done = ready.run("jobs", "show", "abcdef12")

    assert done.code == 2
    assert done.err.startswith("error[WL3303]")
    assert all(str(id) in done.err for id in twins)


def test_a_tenant_sees_its_own_jobs_only(ready: Shell, do: Callable[..., None]):
    async def create(app):
        await app.tenants.create("acme")

    do(ready, create)
    ours = ready.here("enqueue", "hello", "name=Ada", "-t", "acme").out.strip()
    theirs = ready.here("enqueue", "hello", "name=Bob").out.strip()

    assert ready.ok("-t", "acme", "jobs", "list", "-o", "id").lines == [ours]
    assert ready.ok("jobs", "list", "-o", "id", WINDLASS_TENANT="acme").lines == [ours]
    assert ready.run("jobs", "show", theirs, "--tenant", "acme").code == 3
    assert "acme" in ready.at_terminal("jobs", "list").out


def test_a_flag_wins_over_the_environment_wherever_it_stands(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    assert ready.ok("--json", "jobs", "list", WINDLASS_OUTPUT="csv").json["items"]
    assert ready.ok("jobs", "list", "-o", "json", WINDLASS_OUTPUT="csv").json["items"]
    assert ready.ok("jobs", "list", WINDLASS_OUTPUT="json").json["items"]


def test_a_pipe_closed_by_its_reader_is_no_error(lived: Shell):
    done = lived.sh("windlass jobs list --json | head -n 1; echo ${PIPESTATUS[0]}")

    assert done.out.splitlines()[-1] == "0"
    assert not done.err


def test_a_jobs_secrets_are_revealed_after_a_confirmation(lived: Shell):
    login = _by_definition(lived)["login"]["id"]

    unasked = lived.run("jobs", "reveal", login)
    shown = lived.here("jobs", "show", login, "--json")
    revealed = lived.here("jobs", "reveal", login, "--yes", "--reason", "ticket 12", "--json")

    assert "WL2002" in unasked.err
    assert "hunter2" not in unasked.out + shown.out
    assert revealed.json["payload"] == {"user": "ada", "secret": "hunter2-hunter2"}
    entry = lived.here("audit", "list", "-t", "default", "--json").json["items"][0]
    assert (entry["action"], entry["after"]) == ("jobs.reveal", {"reason": "ticket 12"})
