"""`windlass queues move|purge`: all waiting jobs of a queue."""

import signal

import pytest

from tests.cli.jobs.test_bulk import slow_down, with_jobs  # noqa: F401  a fixture
from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell
from windlass.engine.jobs import operations


@pytest.fixture
def busy(ready: Shell) -> Shell:
    """Three jobs wait in the queue `mail`, one of them on hold, and one in `media`."""
    for options in ((), ("--in", "1h"), ("--hold",)):
        ready.here("enqueue", "hello", "name=Ada", "--queue", "mail", *options)
    ready.here("enqueue", "hello", "name=Bob", "--queue", "media")
    return ready


def _counts(shell: Shell) -> dict[str, tuple[int, int]]:
    items = shell.here("queues", "list", "--json").json["items"]
    return {each["name"]: (each["queued"], each["pending"]) for each in items}


def test_waiting_jobs_move_to_another_queue_and_back(busy: Shell):
    moved = busy.ok("queues", "move", "mail", "--to", "bulk", "--yes", "--json")

    assert (moved.json["action"], moved.json["done"]) == ("update", 3)
    assert "2 queued, 1 pending" in moved.err or "1 pending, 2 queued" in moved.err
    assert "3 jobs moved." in moved.err
    assert _counts(busy) == {"bulk": (2, 1), "mail": (0, 0), "media": (1, 0)}
    assert busy.ok("db", "check").code == 0


def test_waiting_jobs_are_canceled_and_stay_in_the_history(busy: Shell):
    purged = busy.ok("queues", "purge", "mail", "--reason", "a wrong import", "--yes")

    assert "3 jobs purged." in purged.err
    jobs = busy.here("jobs", "list", "--queue", "mail", "--json").json["items"]
    assert {(job["state"], job["reason"]) for job in jobs} == {("canceled", "a wrong import")}
    assert _counts(busy)["media"] == (1, 0)
    busy.here("jobs", "retry", "--where", "queue:mail", "--yes")
    assert _counts(busy)["mail"] == (3, 0)


def test_the_name_of_the_queue_is_typed_first(busy: Shell):
    alone = busy.run("queues", "purge", "mail")
    slipped = busy.at_terminal("queues", "purge", "mail", types="media\n")
    before = _counts(busy)
    meant = busy.at_terminal("queues", "purge", "mail", types="mail\n")

    assert alone.code == 2
    assert "--yes" in alone.err
    assert slipped.code == 130
    assert "Purging 3 jobs. To go on, type mail" in slipped.out
    assert "Names do not match; nothing changed." in slipped.out
    assert before["mail"] == (2, 1)
    assert meant.code == 0
    assert "━" in meant.out
    assert _counts(busy)["mail"] == (0, 0)


@pytest.mark.parametrize("command", [("purge", "mail"), ("move", "mail", "--to", "bulk")])
def test_a_dry_run_shows_the_number_of_jobs_and_three_of_them(busy: Shell, command):
    told = busy.at_terminal("queues", *command, "--dry-run").out
    body = busy.here("queues", *command, "--dry-run", "--json").json

    assert "3 jobs found, 3 can be" in told
    assert told.count("hello") == 3
    assert body["by_state"] == {"queued": 2, "pending": 1}
    assert _counts(busy)["mail"] == (2, 1)


def test_an_empty_queue_is_not_changed(busy: Shell):
    done = busy.here("queues", "purge", "nowhere")

    assert done.err == "No jobs match.\n"


def test_a_queue_is_not_moved_to_itself(busy: Shell):
    assert busy.run("queues", "move", "mail", "--to", "mail", "--yes").code == 2
    assert busy.run("queues", "move", "mail").code == 2


def test_a_queue_larger_than_an_operation_is_moved_completely(busy: Shell, monkeypatch):
    monkeypatch.setattr(operations, "MOST", 2)

    told = busy.here("queues", "move", "mail", "--to", "bulk", "--dry-run", "--json").json
    done = busy.here("queues", "move", "mail", "--to", "bulk", "--yes")

    assert (told["total"], told["more"]) == (2, True)
    assert "More than 2 jobs found" in done.err
    assert "2 jobs moved." in done.err
    assert "1 job moved." in done.err
    assert _counts(busy) == {"bulk": (2, 1), "mail": (0, 0), "media": (1, 0)}


def test_an_interrupt_stops_a_move_and_shows_how_many_were_moved(ready: Shell, with_jobs):  # noqa: F811
    with_jobs(2_000)
    slow_down(ready, "windlass_live", "update of queue")
    moving = ready.start("queues", "move", "default", "--to", "bulk", "--yes")
    moving.sees("Moving: 10 %")

    moving.stop(signal.SIGINT)

    assert moving.ends() == 130
    moving.sees(r"Stopped: [\d,]+ jobs moved, [\d,]+ left alone\.")
    counts = _counts(ready)
    assert counts["default"][0] > 0
    assert counts["bulk"][0] > 0
    assert counts["default"][0] + counts["bulk"][0] == 2_000


def test_over_http_it_is_the_same(busy: Shell):
    far = ("--url", address(busy.start("serve", "--no-auth", "--port", "0")))

    busy.here("queues", "move", "mail", "--to", "bulk", "--yes", *far)
    busy.here("queues", "purge", "media", "--yes", *far)

    assert _counts(busy) == {"bulk": (2, 1), "mail": (0, 0), "media": (0, 0)}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_on_a_database_server_it_is_the_same(shell_on, database):
    shell = shell_on(database.url)
    shell.ok("worker", "jobs.py", "--drain")
    for options in ((), ("--in", "1h"), ("--hold",)):
        shell.here("enqueue", "hello", "name=Ada", "--queue", "mail", *options)

    shell.here("queues", "move", "mail", "--to", "bulk", "--yes")
    moved = _counts(shell)
    shell.here("queues", "purge", "bulk", "--yes")

    assert (moved["bulk"], _counts(shell)["bulk"]) == ((2, 1), (0, 0))
    assert shell.ok("db", "check").code == 0
