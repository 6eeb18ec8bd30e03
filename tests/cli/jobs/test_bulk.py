"""`windlass jobs cancel|retry|run-now|delete` by filter: preview, then one operation."""

import json
import signal
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell
from tests.support.servers.api_server import serving
from tests.support.wait import until
from windlass.core.access.principal import local
from windlass.ids import new_job_id
from windlass.upkeep.bulk_operations import OperationRunner


@pytest.fixture
def with_jobs(ready: Shell, do: Callable[..., Any]) -> Callable[[int], list[str]]:
    """Fills the shell's database with this many jobs; returns their ids, oldest first."""

    def fill(count: int) -> list[str]:
        async def enqueue(app):
            one = await app.make("hello", {"name": "Ada"})
            made = [one._replace(id=new_job_id()) for _ in range(count)]
            return [str(each.job_id) for each in await app.enqueue_many(made)]

        return do(ready, enqueue)

    return fill


def slow_down(shell: Shell, table: str, event: str) -> None:
    """Make every change of a job take milliseconds, so that there is time to interrupt a bulk
    action."""
    work = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i from n"
    with sqlite3.connect(shell.folder / "windlass.db") as database:
        database.execute(
            f"create trigger slow before {event} on {table} begin "
            f"select count(*) from ({work}); end"
        )


def _states(shell: Shell) -> set[str]:
    items = shell.here("jobs", "list", "--json", "--limit", "1000").json["items"]
    return {job["state"] for job in items}


def test_a_dry_run_shows_the_number_of_jobs_and_three_of_them(ready: Shell, with_jobs):
    ids = with_jobs(5)

    told = ready.at_terminal("jobs", "cancel", "--where", "definition:hel*", "--dry-run").out
    body = ready.here("jobs", "cancel", "--state", "queued", "--dry-run", "--json").json

    assert "5 jobs found, 5 can be canceled." in told
    assert sum(id[-8:] in told for id in ids) == 3
    assert (body["total"], len(body["sample"])) == (5, 3)
    assert _states(ready) == {"queued"}


def test_a_dry_run_in_a_pipe_is_one_row_for_each_job(ready: Shell, with_jobs):
    ids = with_jobs(5)
    ready.here("jobs", "cancel", ids[0])
    line = ("jobs", "cancel", "--definition", "hello", "--dry-run")

    head, *rows = [row.split("\t") for row in ready.here(*line).lines]
    table = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    body = ready.here(*line, "--json").json

    assert set(table) == set(ids)
    assert table[ids[1]]["state"] == "queued"
    assert table[ids[1]]["skipped"] == ""
    assert table[ids[0]]["skipped"].startswith("it is canceled; only pending")
    assert len(ready.here(*line, "-o", "csv").lines) == 6
    assert [json.loads(row)["id"] for row in ready.here(*line, "-o", "jsonl").lines] == list(table)
    assert ready.here(*line, "-o", "id").lines == list(table)
    assert ready.here(*line).err == "5 jobs found, 4 can be canceled.\n"
    assert [job["id"] for job in body["jobs"]] == list(table)
    assert body["by_state"] == {"canceled": 1, "queued": 4}


def test_skipped_jobs_are_shown_with_the_reason(ready: Shell, with_jobs):
    with_jobs(2)

    done = ready.ok("jobs", "retry", "--definition", "hello", "--yes")

    assert "2 jobs found, 0 can be retried." in done.err
    assert "2 jobs skipped: it is queued" in done.err
    assert done.out == ""


def test_a_person_confirms_and_sees_a_bar(ready: Shell, with_jobs):
    with_jobs(5)

    alone = ready.run("jobs", "cancel", "--state", "queued")
    refused = ready.at_terminal("jobs", "cancel", "--state", "queued", types="n\n")
    before = _states(ready)
    agreed = ready.at_terminal("jobs", "cancel", "--state", "queued", types="y\n")

    assert (alone.code, alone.err.splitlines()[-3].split(":")[0]) == (2, "error[WL2002]")
    assert refused.code == 130
    assert "Canceling 5 jobs. Go on?" in refused.out
    assert before == {"queued"}
    assert agreed.code == 0
    assert "━" in agreed.out
    assert "5 jobs canceled." in agreed.out
    assert _states(ready) == {"canceled"}


def test_a_program_reads_a_line_per_ten_percent_and_the_operation(ready: Shell, with_jobs):
    with_jobs(300)

    done = ready.ok("jobs", "cancel", "--where", "state:queued", "--yes", "--json")

    assert (done.json["state"], done.json["done"], done.json["left"]) == ("completed", 300, 0)
    assert "Canceling: 100 %, 300 of 300" in done.err
    assert done.err.count(" %,") <= 10


def test_an_interrupt_stops_it_and_shows_how_many_were_done(ready: Shell, with_jobs):
    with_jobs(2_000)
    slow_down(ready, "windlass_ended", "insert")
    canceling = ready.start("jobs", "cancel", "--state", "queued", "--yes")
    canceling.sees("Canceling: 10 %")

    canceling.stop(signal.SIGINT)

    assert canceling.ends() == 130
    canceling.sees(r"Stopped: [\d,]+ jobs canceled, [\d,]+ left alone\.")
    assert "Traceback" not in canceling.text
    for state in ("canceled", "queued"):
        assert ready.here("jobs", "list", "--state", state, "--limit", "1", "-o", "id").lines


def test_a_timeout_stops_it_too(ready: Shell, with_jobs, do):
    with_jobs(5)

    async def work_once_it_is_to_stop(app):
        engine = await app.ready()

        async def asked():
            return any(each.stop_requested_at for each in await engine.operations.list(local()))

        await until(asked, waiting_for="the operation to be stopped")
        await OperationRunner(engine).tick()

    with serving(f"sqlite:///{ready.folder / 'windlass.db'}") as url:  # which does no work itself
        canceling = ready.start(
            "jobs", "cancel", "--state", "queued", "--yes", "--timeout", "3s", "--url", url
        )
        do(ready, work_once_it_is_to_stop)
        code = canceling.ends()

    assert code == 9
    canceling.sees("Stopped: 0 jobs canceled, 5 left alone.")


def test_failures_are_listed_and_set_the_exit_code(ready: Shell, with_jobs):
    ids = with_jobs(3)
    with sqlite3.connect(ready.folder / "windlass.db") as database:
        database.execute(
            "create trigger cursed before insert on windlass_ended "
            f"when lower(hex(new.id)) = '{ids[1].replace('-', '')}' or new.id = '{ids[1]}' "
            "begin select raise(abort, 'cursed'); end"
        )

    done = ready.run("jobs", "cancel", "--state", "queued", "--yes")

    assert done.code == 7
    assert "2 jobs canceled, 1 failed." in done.err
    assert ids[1][-8:] in done.err.splitlines()[-1]


def test_with_url_the_server_does_the_work(ready: Shell, with_jobs):
    with_jobs(5)
    server = ready.start("serve", "--no-auth", "--port", "0")

    done = ready.ok(
        "jobs", "cancel", "--where", "definition:hello", "--yes", "--url", address(server)
    )

    assert "5 jobs canceled." in done.err
    assert _states(ready) == {"canceled"}


@pytest.mark.parametrize("args", [(), ("8c1f42d7", "--state", "queued"), ("--state", ",")])
def test_jobs_are_selected_by_id_or_by_filter(ready: Shell, args):
    done = ready.run("jobs", "cancel", *args, "--yes")

    assert done.code == 2
    assert done.err.startswith("error[WL2001]")


def test_a_filter_that_finds_nothing_changes_nothing(ready: Shell):
    done = ready.ok("jobs", "retry", "--where", "state:dead_letter")

    assert done.err == "No jobs match.\n"


def test_an_invalid_filter_is_shown_with_the_position_of_the_error(ready: Shell):
    done = ready.run("jobs", "retry", "--where", "stat:dead_letter", "--definition", "hello")

    assert done.code == 2
    assert "state" in done.err


def test_dead_lettered_jobs_are_deleted_for_good(ready: Shell):
    for _ in range(3):
        ready.here("enqueue", "fail")
    kept = ready.here("enqueue", "hello", "name=Ada", "--in", "1h").out.strip()
    ready.ok("worker", "jobs.py", "--drain")
    one, *_ = ready.here("jobs", "list", "--state", "dead_letter", "-o", "id").lines

    alone = ready.run("jobs", "delete", one)
    single = ready.here("jobs", "delete", one, "--yes")
    refused = ready.run("jobs", "delete", kept, "--yes")
    rest = ready.at_terminal("jobs", "delete", "--definition", "fail", types="y\n")

    assert alone.code == 2
    assert single.out.strip() == one
    assert refused.code == 5
    assert "2 jobs deleted." in rest.out
    assert ready.here("jobs", "list", "-o", "id").lines == [kept]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_on_a_database_server_the_command_does_the_work(shell_on, database):
    shell = shell_on(database.url)
    shell.ok("worker", "jobs.py", "--drain")
    for name in ("Ada", "Bob", "Cid"):
        shell.here("enqueue", "hello", f"name={name}")

    canceled = shell.ok("jobs", "cancel", "--definition", "hello", "--yes", "--json").json
    retried = shell.here("jobs", "retry", "--state", "canceled", "--yes", "--json").json

    assert (canceled["done"], canceled["state"]) == (3, "completed")
    assert (retried["done"], retried["failed"]) == (3, 0)
    assert _states(shell) == {"queued"}
