"""`windlass workers drain|resume|stop`: real workers get orders and follow them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.cli.installation.test_doctor import WORKER
from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell, Started
from tests.support.wait import blocking_until
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import WorkerId


def one(shell: Shell, *far: str, **fields: object) -> dict[str, Any]:
    """Wait for the only worker to have these fields, and return it."""

    def look() -> dict[str, Any] | None:
        items = shell.here("workers", "list", "--json", *far).json["items"]
        return next((each for each in items if fields.items() <= each.items()), None)

    return blocking_until(look)


def working(shell: Shell, *args: str, **env: str) -> tuple[Started, str]:
    """A worker that runs one job, which waits for the file `gate`; and the worker's id."""
    worker = shell.start("worker", "jobs.py", *args, **env)
    worker.sees("Running")
    shell.here("enqueue", "wait_for", "file=gate")
    worker.sees("waiting")
    return worker, one(shell)["id"]


@pytest.mark.parametrize("database", ["sqlite", "postgresql", "mariadb"], indirect=True)
def test_a_worker_is_drained_resumed_and_stopped(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    worker, id = working(shell, WINDLASS_WORKER_LEASE_SECONDS="6")

    drained = shell.ok("workers", "drain", id[-8:])
    one(shell, doing="drain")
    later = shell.here("enqueue", "hello", "name=Ada").out.strip()
    shell.write("gate", "open")
    shell.ok("workers", "drain", id, "--wait", "--timeout", "60s")
    held = shell.here("jobs", "show", later, "--json").json
    why = shell.here("jobs", "explain", later).out
    shell.ok("workers", "resume", id)
    shell.here("jobs", "wait", later)
    shell.ok("workers", "stop", id, "--yes", "--wait", "--timeout", "60s")

    assert drained.out == f"{id}\n"
    assert held["state"] == "queued"
    assert "the only live worker that could run it drains" in why
    assert worker.ends() == 0
    assert shell.here("workers", "list", "--json").json["items"] == []


def test_over_http_a_remote_worker_does_the_same(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    far = ("--url", address(server))
    worker, id = working(ready, *far, WINDLASS_WORKER_LEASE_SECONDS="2")

    ready.here("workers", "drain", id, *far)
    one(ready, *far, doing="drain", slots_used=1)
    later = ready.here("enqueue", "hello", "name=Ada").out.strip()
    ready.write("gate", "open")
    one(ready, *far, doing="drain", slots_used=0)
    held = ready.here("jobs", "show", later, "--json").json["state"]
    ready.here("workers", "resume", id, *far)
    ready.here("jobs", "wait", later)
    ready.here("workers", "stop", id, "--yes", *far)

    assert held == "queued"
    assert worker.ends() == 0


def test_a_stopped_worker_hands_back_what_does_not_end_in_time(ready: Shell):
    worker, id = working(ready, WINDLASS_WORKER_SHUTDOWN_TIMEOUT_SECONDS="0")

    ready.here("workers", "stop", id, "--yes")

    worker.sees("Letting 1 running job finish")
    assert worker.ends() == 0
    [job] = ready.here("jobs", "list", "--json").json["items"]
    assert (job["state"], job["attempts"]) == ("queued", 0)


def test_a_server_keeps_running_when_its_worker_is_stopped(ready: Shell):
    server = ready.start("serve", "jobs.py", "--all", "--no-auth", "--port", "0")
    far = ("--url", address(server))
    id = one(ready, *far)["id"]

    ready.here("workers", "stop", id, "--yes", "--wait", *far)

    assert ready.here("workers", "list", "--json", *far).json["items"] == []
    server.stop()
    assert server.ends() == 0


@pytest.fixture
def told(ready: Shell, do) -> Shell:
    """A shell whose database has the rows of two live workers that run jobs."""
    for id, used in (("web-1:7:0badcafe", 1), ("web-2:411:8c1f42d7", 3)):
        row = replace(WORKER, id=WorkerId(id), slots_used=used, lease_seconds=600.0)
        do(ready, lambda app, row=row: app.engine.workers.beat(row))
    return ready


def test_a_person_sees_the_workers_next_action(told: Shell):
    looked = told.at_terminal("workers", "drain", "8c1f42d7", "--dry-run").out
    drained = told.at_terminal("workers", "drain", "8c1f42d7").out
    listed = told.at_terminal("workers", "list", width=140).out
    shown = told.at_terminal("workers", "show", "8c1f42d7").out
    frame = told.ok("top", "--once", COLUMNS="160").out
    resumed = told.at_terminal("workers", "resume", "8c1f42d7").out

    assert looked == "web-2:411:8c1f42d7 would take no more jobs; 3 still run.\n"
    assert drained == "web-2:411:8c1f42d7 takes no more jobs; 3 still run.\n"
    assert "❚❚ Draining" in listed
    assert "● Live" in listed
    assert "to drain by " in shown
    assert "not received yet" in shown
    assert "❚❚ web-2:411:8c1f42d7" in frame
    assert "draining" in frame
    assert resumed == "web-2:411:8c1f42d7 takes jobs again; 3 still run.\n"


def test_a_stop_and_several_workers_need_a_confirmation(told: Shell):
    both = ("0badcafe", "8c1f42d7")

    one_stop = told.run("workers", "stop", "0badcafe")
    two_drains = told.run("workers", "drain", *both)
    declined = told.at_terminal("workers", "stop", *both, types="n\n", once="Go on?")
    looked = told.here("workers", "stop", *both, "--dry-run", "--json")

    assert (one_stop.code, two_drains.code) == (2, 2)
    assert "Stopping 2 workers (0badcafe, 8c1f42d7). Go on?" in declined.out
    assert declined.code != 0
    assert '"stop"' not in looked.out
    assert told.here("workers", "drain", *both, "--yes").lines == [
        "web-1:7:0badcafe",
        "web-2:411:8c1f42d7",
    ]


def test_an_order_to_a_lost_or_unknown_worker_is_an_error(told: Shell, do):
    do(told, lambda app: app.engine.workers.beat(replace(WORKER, lease_seconds=0.001)))
    do(
        told,
        lambda app: app.engine.storage.leases.set_worker_order(
            WorkerId("web-1:7:0badcafe"), WorkerOrder.STOP
        ),
    )

    lost = told.run("workers", "drain", WORKER.id)
    stopping = told.run("workers", "resume", "0badcafe")
    unknown = told.run("workers", "stop", "nobody:1", "--yes")

    assert (lost.code, stopping.code, unknown.code) == (5, 5, 3)
    assert "error[WL3602]: worker host:1 is lost" in lost.err
    assert "error[WL3603]: worker web-1:7:0badcafe is stopping and cannot resume." in stopping.err


def test_a_wait_ends_at_the_timeout(told: Shell):
    done = told.run("workers", "drain", "8c1f42d7", "--wait", "--timeout", "1s")

    assert done.code == 9
    assert done.err == ("web-2:411:8c1f42d7 is not done yet; 3 still run. It will keep running.\n")


def test_a_wait_ends_when_the_worker_is_resumed(told: Shell):
    waits = told.start("workers", "drain", "8c1f42d7", "--wait")
    one(told, id="web-2:411:8c1f42d7", wanted="drain")

    told.here("workers", "resume", "8c1f42d7")

    waits.sees("was resumed meanwhile")
    assert waits.ends() == 5


def test_a_shell_is_offered_workers(told: Shell):
    done = told.run(
        _WINDLASS_COMPLETE="bash_complete",
        COMP_WORDS="windlass workers drain 8c",
        COMP_CWORD="3",
    )

    assert done.lines == ["plain,8c1f42d7"]
