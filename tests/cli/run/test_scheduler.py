"""`windlass scheduler`: schedules without a worker."""

from tests.support.processes.shell import Shell
from windlass import every

BEATS = """
from windlass import Windlass, every

wl = Windlass()

@wl.job(schedule=every("1h"))
def beat() -> None: ...
"""


def test_once_creates_the_due_jobs_and_runs_none(shell: Shell):
    shell.write("beats.py", BEATS)

    shell.ok("scheduler", "beats.py", "--once")
    shell.ok("scheduler", "beats.py", "--once")

    [job] = shell.here("jobs", "list", "--json").json["items"]
    assert (job["definition"], job["source"], job["state"]) == ("beat", "schedule", "queued")


def test_rows_are_enough_to_work_from(ready: Shell, do):
    async def schedule(wl):
        await wl.schedules.create(
            "hourly", definition="hello", schedule=every("1h"), payload={"name": "Ada"}
        )

    do(ready, schedule)

    ready.ok("scheduler", "--once")

    [job] = ready.here("jobs", "list", "--json").json["items"]
    assert (job["definition"], job["source"]) == ("hello", "schedule")


def test_it_runs_until_it_is_stopped(shell: Shell):
    shell.write("beats.py", BEATS.replace("1h", "1s"))

    started = shell.start("scheduler", "beats.py")
    started.sees("Scheduling.")
    started.stop()

    assert started.ends() == 0


def test_with_the_setting_off_no_schedule_is_fired(shell: Shell):
    shell.write("beats.py", BEATS)

    done = shell.ok("scheduler", "beats.py", "--once", WINDLASS_SCHEDULER_ENABLED="false")

    assert "scheduler.enabled is off" in done.err
    assert shell.here("jobs", "list", "--json").json["items"] == []


def test_a_module_that_cannot_be_imported_is_an_error(shell: Shell):
    done = shell.run("scheduler", "nowhere.py", "--once")

    assert done.code == 2
    assert "nowhere.py" in done.err


def test_a_worker_fires_schedules_by_default(shell: Shell):
    shell.write("beats.py", BEATS)

    shell.ok("worker", "beats.py", "--drain", "--without-scheduler")
    without = shell.here("jobs", "list", "--json").json["items"]
    worker = shell.start(
        "worker", "beats.py", "--with-scheduler", "-v", WINDLASS_SCHEDULER_ENABLED="false"
    )
    worker.sees("claimed")
    [job] = shell.here("jobs", "list", "--json").json["items"]

    assert without == []
    assert (job["definition"], job["source"]) == ("beat", "schedule")


def test_a_worker_over_http_leaves_schedules_to_the_server(shell: Shell):
    done = shell.run("worker", "jobs.py", "--url", "http://127.0.0.1:1", "--with-scheduler")

    assert done.code == 2
    assert "--with-scheduler needs a database" in done.err
