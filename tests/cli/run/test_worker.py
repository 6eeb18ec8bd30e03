"""`windlass worker` as a process: imports, stop, exit codes."""

import json
import os
import re
import signal
import sqlite3
import subprocess
from contextlib import closing

import pytest

from tests.databases.connect import execute
from tests.support.processes.shell import Shell
from windlass.cli.framework.exit_codes import Exit
from windlass.core.jobs.states import JobState


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_hands_running_jobs_back(ready: Shell, number):
    id = ready.here("enqueue", "wait_for", "file=gate").out.strip()
    worker = ready.start("worker", "jobs.py")
    worker.sees("waiting")

    worker.stop(number)
    worker.sees("Letting 1 running job finish")
    worker.stop(number)

    assert worker.ends() == 0
    job = ready.here("jobs", "show", id, "--json").json
    assert (job["state"], job["attempts"]) == (JobState.QUEUED, 0)


def test_a_worker_hands_back_what_does_not_finish_in_time(ready: Shell):
    id = ready.here("enqueue", "wait_for", "file=gate").out.strip()
    worker = ready.start("worker", "jobs.py", WINDLASS_WORKER_SHUTDOWN_TIMEOUT_SECONDS="0")
    worker.sees("waiting")

    worker.stop()

    assert worker.ends() == 0
    assert ready.here("jobs", "show", id, "--json").json["state"] == JobState.QUEUED


def test_a_drain_runs_due_jobs_and_the_jobs_they_enqueue(ready: Shell):
    parent = ready.here("enqueue", "hello", "name=Ada").out.strip()
    child = ready.here("enqueue", "hello", "name=Bob", "--after", parent).out.strip()
    later = ready.here("enqueue", "hello", "name=Cyd", "--in", "1h").out.strip()

    ready.ok("worker", "jobs.py", "--drain")

    states = {job["id"]: job["view"] for job in ready.here("jobs", "list", "--json").json["items"]}
    assert states == {parent: "completed", child: "completed", later: "scheduled"}


def test_a_worker_serves_only_the_given_queues(ready: Shell):
    mail = ready.here("enqueue", "hello", "name=Ada", "--queue", "mail").out.strip()
    other = ready.here("enqueue", "hello", "name=Bob").out.strip()

    ready.ok("worker", "jobs.py", "--drain", "-q", "mail")

    assert ready.here("jobs", "show", mail, "--json").json["state"] == "completed"
    assert ready.here("jobs", "show", other, "--json").json["state"] == "queued"


def test_modules_are_names_files_and_parts_of_packages(shell: Shell):
    app = "from windlass import Windlass\nwl = Windlass()\n"
    shell.write("shop/__init__.py", "")
    shell.write("shop/wl.py", app)
    for name in ("mail", "media"):
        shell.write(
            f"shop/{name}.py",
            f"from .wl import wl\n@wl.job('{name}')\ndef run() -> str:\n    return '{name}'\n",
        )
    blocking = app.replace("windlass import", "windlass.sync import")
    shell.write("alone.py", f"{blocking}@wl.job\ndef single() -> None: ...\n")
    shell.write("windlass.toml", 'modules = ["shop.mail", "shop/media.py"]\n')

    settings = shell.ok("worker", "--drain")
    given = shell.ok("worker", "shop.mail", "alone.py", "--drain")

    # One app in two modules, then two apps.
    assert settings.err.splitlines()[1:] == ["Running mail, media."]
    assert given.err.splitlines()[2:] == ["Running mail, single."]


def test_a_worker_prints_its_id_and_the_end_of_each_job(ready: Shell):
    for _ in range(2):
        ready.here("enqueue", "hello", "name=Ada")

    said = ready.ok("worker", "jobs.py", "--drain", "-q", "default", "-c", "3").err
    ready.here("enqueue", "hello", "name=Ada")
    quiet = ready.ok("worker", "jobs.py", "--drain", "--quiet").err

    first, second, *lines = said.splitlines()
    assert re.fullmatch(r"Worker \S+ on sqlite \S+: queues default, 3 slots\.", first)
    assert second.startswith("Running ")
    assert [json.loads(line)["event"] for line in lines] == ["completed", "completed"]
    assert quiet == ""


def test_two_apps_on_one_database_both_work(shell: Shell):
    for name in ("one", "two"):
        shell.write(
            f"{name}.py",
            f"from windlass import Windlass\nwl = Windlass()\n@wl.job\ndef {name}() -> int:\n    return 1\n",
        )
    shell.ok("worker", "one.py", "two.py", "--drain")
    ids = [shell.here("enqueue", name).out.strip() for name in ("one", "two")]

    shell.ok("worker", "one.py", "two.py", "--drain")

    for id in ids:
        assert shell.here("jobs", "show", id, "--json").json["state"] == "completed"


def test_a_database_given_by_flag_wins_over_the_code(shell: Shell):
    shell.write(
        "fixed.py",
        "from windlass import Windlass\nwl = Windlass('sqlite:///fixed.db')\n@wl.job\ndef one() -> None: ...\n",
    )

    shell.ok("worker", "fixed.py", "--drain", "--db", "sqlite:///other.db")

    assert (shell.folder / "other.db").exists()
    assert not (shell.folder / "fixed.db").exists()


def test_log_lines_for_programs_are_json_with_the_jobs_identity(ready: Shell):
    id = ready.here("enqueue", "wait_for", "file=jobs.py").out.strip()

    said = ready.ok("worker", "jobs.py", "--drain")

    [line, _] = [json.loads(line) for line in said.err.splitlines() if line.startswith("{")]
    assert (line["event"], line["job_id"], line["definition"]) == ("waiting", id, "wait_for")
    assert (line["level"], line["attempt"], line["file"]) == ("info", 1, "jobs.py")
    assert not said.out


@pytest.mark.parametrize(
    ("name", "text", "code", "says"),
    [
        ("gone.py", None, 2, 'error[WL1401]: the module "gone.py" cannot be imported.'),
        ("no.such.module", None, 2, "ModuleNotFoundError: No module named 'no'."),
        ("broken.py", "def (", 2, "SyntaxError"),
        ("raises.py", "raise RuntimeError('boom')", 2, "RuntimeError: boom."),
        ("exits.py", "raise SystemExit(3)", 2, "SystemExit: 3."),
        ("empty.py", "", 2, 'error[WL1402]: no Windlass app in "empty.py".'),
        ("twice.py", "from windlass import Windlass\nwl = Windlass()\nwl.job('x', max_attempts=0)(print)", 2, "error[WL2109]"),
    ],
)  # fmt: skip
def test_unusable_code_is_an_error(shell: Shell, name, text, code, says):
    if text is not None:
        shell.write(name, text)

    done = shell.run("worker", name)

    assert done.code == code
    assert says in done.err
    assert "Traceback" not in done.err


def test_no_module_is_an_error(shell: Shell):
    done = shell.run("worker")

    assert done.code == 2
    assert done.err.startswith("error[WL1402]")


def test_an_unreachable_database_at_the_start_is_an_error(shell: Shell):
    done = shell.run("worker", "jobs.py", "--db", "postgresql://127.0.0.1:1/x")

    assert done.code == 6
    assert "error[WL1101]" in done.err


@pytest.mark.database("postgresql")
def test_a_server_that_is_not_migrated_gets_no_worker(shell_on, new_database):
    done = shell_on(new_database("postgresql").url).run("worker", "jobs.py")

    assert done.code == 2
    assert "error[WL1203]" in done.err


@pytest.mark.database("postgresql")
def test_a_worker_waits_for_a_read_only_server_and_then_begins(
    shell_on, new_database, postgres_url
):
    url = new_database("postgresql").url
    name = url.rpartition("/")[2]
    shell = shell_on(url)
    shell.ok("db", "migrate")
    execute(postgres_url, f'alter database "{name}" set default_transaction_read_only = on')

    looked = shell.run("doctor")
    worker = shell.start("worker", "jobs.py")
    worker.sees("waiting for the database")
    execute(postgres_url, f'alter database "{name}" reset all')
    worker.sees("Running")
    worker.stop()

    assert (looked.code, worker.ends()) == (1, 0)
    assert "The database is read-only" in looked.out
    assert worker.text.count("waiting for the database") == 1
    assert "Traceback" not in worker.text


@pytest.mark.database("postgresql")
def test_a_worker_stopped_while_its_server_is_read_only_reports_lost_outcomes(
    shell_on, new_database, postgres_url
):
    url = new_database("postgresql").url
    name = url.rpartition("/")[2]
    shell = shell_on(url)
    shell.ok("db", "migrate")
    worker = shell.start("worker", "jobs.py")
    worker.sees("Running")
    shell.ok("enqueue", "wait_for", "file=gate")
    worker.sees('"waiting"')
    execute(postgres_url, f'alter database "{name}" set default_transaction_read_only = on')
    execute(
        postgres_url,
        f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'",
    )

    (shell.folder / "gate").touch()
    worker.sees("recording outcomes failed")
    worker.stop()

    assert worker.ends() == 10
    assert "is read-only" in worker.text
    assert "1 outcome could not be recorded" in worker.text
    assert "Traceback" not in worker.text


@pytest.mark.database("postgresql")
def test_a_worker_that_a_server_refuses_ends_at_once(shell_on, new_database):
    url = new_database("postgresql").url
    done = shell_on(f"{url}_of_another_name").run("worker", "jobs.py")

    assert done.code == 6
    assert "error[WL1107]" in done.err


def test_a_worker_above_its_memory_limit_ends_well(ready: Shell):
    worker = ready.start(
        "worker", "jobs.py", WINDLASS_WORKER_MEMORY_LIMIT_MB="16", WINDLASS_WORKER_LEASE_SECONDS="1"
    )

    assert worker.ends() == 0
    assert "memory limit" in worker.text


def test_jobs_that_can_be_neither_finished_nor_handed_back_are_reported(ready: Shell):
    ready.here("enqueue", "wait_for", "file=gate")
    worker = ready.start("worker", "jobs.py", WINDLASS_WORKER_SHUTDOWN_TIMEOUT_SECONDS="0")
    worker.sees('"waiting"')

    # Nobody else can write to the file any more.
    with closing(sqlite3.connect(ready.folder / "windlass.db", timeout=30)) as file:
        file.execute("begin exclusive")
        worker.stop()
        code = worker.ends(patience=60)

    assert code == 10
    assert "leaving without it" in worker.text
    assert "1 outcome could not be recorded" in worker.text


def test_pid_1_reaps_orphans_and_forwards_signals(ready: Shell):
    ready.write(
        "orphans.py",
        "import subprocess\nfrom windlass import Windlass\nwl = Windlass()\n"
        "@wl.job\ndef orphan() -> str:\n"
        "    subprocess.run(['sh', '-c', 'sleep 0.1 & exit'])\n"
        "    subprocess.run(['sleep', '0.5'])\n"
        "    return subprocess.run(['ps', '-eo', 'pid,stat,comm'], capture_output=True, text=True).stdout\n",
    )
    ready.ok("worker", "orphans.py", "--drain")
    id = ready.here("enqueue", "orphan").out.strip()
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    tried = subprocess.run([*command, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"a process namespace needs rights: {tried.stderr.strip()}")

    worker = ready.start("worker", "orphans.py", before=command)
    worker.sees("Running")
    done = ready.run("jobs", "wait", id, "--timeout", "20s")
    first = worker.first_child()
    os.kill(first, signal.SIGTERM)

    assert done.code == 0, (done, worker.text)
    assert " Z" not in done.out
    assert worker.ends() == 0


def test_a_worker_ends_when_its_database_starts_a_new_epoch(ready: Shell):
    worker = ready.start("worker", "jobs.py", WINDLASS_WORKER_LEASE_SECONDS="1")
    worker.sees("Running")

    ready.ok("db", "new-epoch", "--yes")

    assert worker.ends() == Exit.EPOCH_CHANGED
    assert "error[WL1206]" in worker.text
