"""`windlass dev` with code that cannot be imported: told in the terminal and by the API."""

import contextlib
import re
import signal
import time

from tests.cli.dev.test_dev import asked, wait_until
from tests.support.processes.shell import JOBS, Shell, Started


def _ready(shell: Shell, *args: str, **env: str) -> Started:
    dev = shell.start("dev", *args, **env)
    dev.sees(r"^  Try")
    return dev


def test_code_that_cannot_be_imported_replaces_nothing(shell: Shell):
    dev = _ready(shell)

    shell.write("jobs.py", JOBS + "\nraise RuntimeError('not yet')\n")

    dev.sees(r"error\[WL1401\]: the module .jobs.py. cannot be imported.")
    dev.sees("Waiting for the next save. The previous code keeps running.")
    assert "RuntimeError: not yet" in dev.text
    assert shell.ok("enqueue", "hello", "name=Ada", "--wait").out == "Hello, Ada!\n"

    shell.write("jobs.py", JOBS.replace("Hello, ", "Hi, "))

    dev.sees("Reloading", times=2)
    dev.sees("completed +hello")
    wait_until(lambda: shell.here("enqueue", "hello", "name=Ada", "--wait").out == "Hi, Ada!\n")


def test_the_api_tells_why_code_cannot_be_imported(shell: Shell):
    dev = shell.start("dev", "jobs.py", "--no-auth")
    url = re.search(r"http://127\.0\.0\.1:\d+", dev.sees(r"API +(http://\S+)/api/v1"))[0]
    dev.sees(r"^  Reload")

    def error():
        return error_shown(f"{url}/api/v1/dev")

    assert error() is None
    shell.write("jobs.py", JOBS + "\nraise RuntimeError('not yet')\n")
    wait_until(error)
    shown = error()
    shell.write("jobs.py", JOBS)
    wait_until(lambda: error() is None)

    assert "jobs.py" in shown["message"]
    assert shown["traceback"].rstrip().endswith("RuntimeError: not yet")
    assert asked(f"{url}/api/v1/settings", "none")["environment"] == "dev"
    dev.stop()
    assert dev.ends() == 0


def test_a_first_import_that_fails_waits_for_the_next_save(shell: Shell):
    shell.write("jobs.py", "def (")
    dev = shell.start("dev", "jobs.py")
    dev.sees("Waiting for the next save. No job runs meanwhile.")

    shell.write("jobs.py", JOBS)

    dev.sees("Reloading: jobs.py saved.")
    dev.sees(r"^  Reload")
    assert shell.ok("enqueue", "hello", "name=Ada", "--wait").out
    dev.stop(signal.SIGINT)
    assert dev.ends() == 0


def test_a_first_import_that_fails_keeps_the_server_up(shell: Shell):
    shell.write("jobs.py", "def (")
    dev = shell.start("dev", "jobs.py", "--no-auth")
    url = re.search(r"http://\S+", dev.sees(r"The dashboard shows this too: http://\S+"))[0]
    dev.sees("Waiting for the next save. No job runs meanwhile.")

    def error():
        return error_shown(f"{url}api/v1/dev")

    first = error()
    shell.write("jobs.py", "raise RuntimeError('not yet')\n")
    wait_until(lambda: "not yet" in error()["message"])
    second = error()
    shell.write("jobs.py", JOBS)
    dev.sees(r"^  Reload")
    wait_until(lambda: error() is None)

    assert "SyntaxError" in first["traceback"]
    assert "def (" in first["traceback"]
    assert second["traceback"].rstrip().endswith("RuntimeError: not yet")
    assert "The previous code keeps running." not in dev.text
    assert shell.ok("enqueue", "hello", "name=Ada", "--wait").out
    dev.stop(signal.SIGINT)
    assert dev.ends() == 0


def test_a_server_that_shows_an_error_is_stopped_like_any_other(shell: Shell):
    shell.write("jobs.py", "def (")
    dev = shell.start("dev", "jobs.py")
    dev.sees("Waiting for the next save. No job runs meanwhile.")

    dev.stop(signal.SIGINT)

    assert dev.ends() == 0
    assert "?key=" in dev.text


def test_a_failing_lifespan_is_shown_and_waits_for_the_next_save(shell: Shell):
    broken = (
        "from contextlib import asynccontextmanager\n@wl.lifespan\n@asynccontextmanager\n"
        "async def span():\n    raise RuntimeError('no cache')\n    yield\n"
    )
    shell.write("jobs.py", JOBS + broken)
    dev = shell.start("dev")

    dev.sees("Waiting for the next save. No job runs meanwhile.")
    assert "in span" in dev.text
    assert "RuntimeError: no cache" in dev.text
    assert "  Reload " not in dev.text

    shell.write("jobs.py", JOBS)

    dev.sees("Reloading: jobs.py saved.")
    assert shell.ok("enqueue", "hello", "name=Ada", "--wait", "--timeout", "30s").out


def error_shown(url):
    """The error that the API tells; asked again where a reload cuts the connection off."""
    for _ in range(600):
        with contextlib.suppress(OSError):
            return asked(url, "none")["error"]
        time.sleep(0.05)
    raise AssertionError(f"{url} does not answer")
