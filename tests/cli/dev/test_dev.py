"""`windlass dev` as a process: starts, reloads on save, stops."""

import contextlib
import json
import os
import re
import signal
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.databases.servers.cleanup import is_running
from tests.support.processes.shell import JOBS, Shell, Started

LINES = """
from windlass import Backoff, JobContext, Windlass

wl = Windlass()

@wl.job(max_attempts=2, backoff=Backoff(kind="fixed", base=0.1, jitter=0))
def flaky() -> None:
    raise ConnectionError("nobody home")

@wl.job
def tell(ctx: JobContext, name: str) -> str:
    ctx.log.warning("looked", user=name, password="hunter2-hunter2")
    ctx.progress(0.5, "half way")
    if ctx.job.attempt == 1 and name == "later" and ctx.fence == 1:
        ctx.snooze("10ms")
    return name
"""

TICKING = """
from windlass import Windlass, init

wl = Windlass()

@wl.job(schedule=init())
def tick() -> None: ...
"""


def _ready(shell: Shell, *args: str, **env: str) -> Started:
    dev = shell.start("dev", *args, **env)
    dev.sees(r"^  Try")
    return dev


def _child_of(dev: Started) -> int:
    return dev.first_child()


def test_a_job_is_on_screen_right_after_it_is_enqueued(shell: Shell):
    dev = _ready(shell)

    shell.ok("enqueue", "hello", "name=Ada")

    text = dev.sees(r'✓ completed +hello +[0-9a-f]{8}  .*→ "Hello, Ada!"')
    assert "5 found in jobs.py: hello · count · fail · wait_for · login" in text
    assert "sqlite:///windlass.db" in text
    assert "enqueue hello name=Ada\n" in text
    dev.stop(signal.SIGINT)
    assert dev.ends() == 0
    assert "Traceback" not in dev.text


def test_lines_show_how_jobs_run(shell: Shell):
    shell.write("lines.py", LINES)
    dev = _ready(shell, "lines.py")

    shell.here("enqueue", "flaky")
    shell.here("enqueue", "tell", "name=later")

    dev.sees(
        r"↻ failed +flaky .* try 1/2  ConnectionError: nobody home  lines.py:8  next try in 100 ms"
    )
    dev.sees(r"✕ dead letter +flaky .* try 2/2  ConnectionError")
    dev.sees(r"│ +tell .*━━━━━───── +50 % half way")
    dev.sees(r"│ +tell .* looked user=later password=")
    dev.sees(r"◷ snoozed +tell .* for 10 ms")
    dev.sees(r'✓ completed +tell .* → "later"')
    assert "hunter2" not in dev.text
    assert "\x1b" not in dev.text


def test_saving_runs_new_code_and_jobs_under_way_finish_with_the_old(shell: Shell):
    dev = _ready(shell)
    slow = shell.here("enqueue", "wait_for", "file=gate").out.strip()
    dev.sees("started +wait_for")

    shell.write("jobs.py", JOBS.replace("Hello, ", "Good day, ").replace('"done"', '"new"'))

    dev.sees("Reloading: jobs.py saved.")
    dev.sees("Letting 1 running job finish")
    new = shell.ok("enqueue", "hello", "name=Ada", "--wait", "--timeout", "20s")
    shell.write("gate", "open")
    old = shell.ok("jobs", "wait", slow, "--timeout", "20s")
    assert new.out == "Good day, Ada!\n"
    assert old.out == "done\n"
    assert shell.here("jobs", "show", slow, "--json").json["attempts"] == 1
    dev.stop()
    assert dev.ends() == 0


def test_a_module_that_is_imported_by_a_job_is_watched_too(shell: Shell):
    shell.write("words.py", "GREETING = 'Hello'\n")
    shell.write(
        "jobs.py",
        "import words\nfrom windlass import Windlass\nwl = Windlass()\n"
        "@wl.job\ndef hello() -> str:\n    return words.GREETING\n",
    )
    dev = _ready(shell)

    shell.write("words.py", "GREETING = 'Good day'\n")

    dev.sees("Reloading: words.py saved.")
    wait_until(lambda: shell.here("enqueue", "hello", "--wait").out == "Good day\n")


def test_a_second_signal_hands_running_jobs_back(shell: Shell):
    dev = _ready(shell)
    id = shell.here("enqueue", "wait_for", "file=gate").out.strip()
    dev.sees("started +wait_for")

    dev.stop(signal.SIGINT)
    dev.sees("Letting 1 running job finish")
    dev.stop(signal.SIGINT)

    assert dev.ends() == 0
    assert "↩ handed back" in dev.text
    assert shell.here("jobs", "show", id, "--json").json["view"] == "queued"


def test_a_process_that_dies_is_started_again(shell: Shell):
    dev = _ready(shell)

    os.kill(_child_of(dev), signal.SIGKILL)

    dev.sees(r"The process ended \(SIGKILL\); starting it again.")
    assert shell.ok("enqueue", "hello", "name=Ada", "--wait", "--timeout", "20s").out


def test_the_process_that_works_does_not_outlive_the_one_that_watches(shell: Shell):
    dev = _ready(shell)
    child = _child_of(dev)

    dev.stop(signal.SIGKILL)
    dev.ends()

    wait_until(lambda: not is_running(child))


def test_without_reloading_there_is_one_process(shell: Shell):
    dev = _ready(shell, "--no-reload", "--db", "sqlite:///own.db")

    shell.ok("enqueue", "hello", "name=Ada", "--db", "sqlite:///own.db")

    dev.sees("completed +hello")
    assert "enqueue hello name=Ada --db sqlite:///own.db" in dev.text
    assert not Path(f"/proc/{dev.process.pid}/task/{dev.process.pid}/children").read_text("ascii")
    dev.stop()
    assert dev.ends() == 0


def test_a_folder_without_jobs_is_an_error(shell: Shell):
    (shell.folder / "jobs.py").unlink()
    shell.write("other.py", "x = 1\n")

    done = shell.run("dev")

    assert done.code == 2
    assert done.err.startswith("error[WL1402]: no module with jobs was given or found.")


def test_an_unreachable_database_is_an_error(shell: Shell):
    done = shell.run("dev", "--db", "postgresql://127.0.0.1:1/x")

    assert done.code == 6
    assert "error[WL1101]" in done.err


@pytest.mark.database("postgresql")
def test_an_empty_server_gets_its_tables(shell_on: Callable[[str], Shell], new_database):
    shell = shell_on(new_database("postgresql").url)
    dev = _ready(shell)

    assert shell.ok("enqueue", "hello", "name=Ada", "--wait", "--timeout", "20s").out
    dev.stop()
    assert dev.ends() == 0


def wait_until(happened: Callable[[], bool], patience: float = 30.0) -> None:
    until = time.monotonic() + patience
    while not happened():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def test_it_serves_the_api_at_a_port_that_stays_over_reloads(ready: Shell):
    started = ready.start("dev", "jobs.py", "--port", "18787")
    said = started.sees(r"API +(http://127\.0\.0\.1:\d+)/api/v1")
    url = re.search(r"http://127\.0\.0\.1:\d+", said)[0]

    token = ready.here("tokens", "create", "me", "--role", "superadmin").out.strip()
    before = asked(f"{url}/api/v1/definitions/hello", token)
    ready.write("jobs.py", JOBS.replace('"""Say hello."""', '"""Say hello again."""'))
    after = until_it_says(f"{url}/api/v1/definitions/hello", token, "Say hello again.")
    started.stop()

    assert (before["description"], after["description"]) == ("Say hello.", "Say hello again.")
    assert started.ends() == 0


def test_it_prints_a_sign_in_link(ready: Shell):
    started = ready.start("dev", "jobs.py", "--port", "18877")
    said = started.sees(r"Dashboard +http://127\.0\.0\.1:\d+/\?key=wlk_")
    url, secret = re.search(r"(http://127\.0\.0\.1:\d+)/\?key=(\S+)", said).groups()

    cookie = signed_in(url, secret)
    request = urllib.request.Request(f"{url}/api/v1/whoami", headers={"cookie": cookie})
    with urllib.request.urlopen(request, timeout=20) as answer:
        me = json.load(answer)
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(f"{url}/api/v1/jobs", "none")
    refused.value.close()
    started.stop()

    assert (me["name"], refused.value.code) == ("admin", 401)
    assert started.ends() == 0


def signed_in(url, secret):
    """The session cookie that a sign-in link gives."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    body = urllib.parse.urlencode({"link": secret}).encode()
    request = urllib.request.Request(f"{url}/login", body, {"origin": url})
    with pytest.raises(urllib.error.HTTPError) as moved:
        urllib.request.build_opener(Stay).open(request, timeout=20)
    moved.value.close()
    assert moved.value.code == 303
    return moved.value.headers["set-cookie"].partition(";")[0]


def test_with_no_auth_no_sign_in_is_needed(ready: Shell):
    started = ready.start("dev", "jobs.py", "--port", "18977", "--no-auth")
    said = started.sees(r"API +(http://127\.0\.0\.1:\d+)/api/v1")
    started.sees(r"^  Reload")

    me = asked(re.search(r"http://127\.0\.0\.1:\d+", said)[0] + "/api/v1/whoami", "none")
    started.stop()

    assert me["rights"] is None
    assert "?key=" not in started.text
    assert started.ends() == 0


def asked(url, token):
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def until_it_says(url, token, text):
    for _ in range(600):
        with contextlib.suppress(OSError):
            if (found := asked(url, token))["description"] == text:
                return found
        time.sleep(0.05)
    raise AssertionError(f"{url} never said {text}")


def test_schedules_that_the_code_no_longer_declares_are_marked_and_stop(shell: Shell):
    shell.write("old.py", TICKING)
    shell.ok("definitions", "sync", "old.py")

    dev = shell.start("dev", "jobs.py")

    dev.sees("No longer in the code, and not scheduled any more: tick")
    dev.sees(r"^  Jobs")
    shell.ok("enqueue", "hello", "name=Ada", "--wait")
    dev.stop(signal.SIGINT)
    assert dev.ends() == 0
    assert shell.ok("jobs", "list", "--definition", "tick", "-o", "id").lines == []
