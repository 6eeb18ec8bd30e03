"""`windlass worker --url`: a real server, and real workers that have no database."""

import asyncio
import re
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.cli.run.test_serve import address, ask
from tests.support.processes.shell import Shell, Started
from tests.support.servers.api_server import serving
from tests.support.wait import until
from windlass import Settings, Windlass
from windlass.cli.connect.server_address import ServerAddress
from windlass.cli.run.run_remote_worker import work_for
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

JOBS = """
import time
from pathlib import Path

from windlass import Backoff, JobContext, Windlass

wl = Windlass()

@wl.job
def hello(name: str) -> dict[str, str]:
    return {"said": f"Hello, {name}!"}

@wl.job(max_attempts=3, backoff=Backoff.none())
def flaky(ctx: JobContext) -> int:
    if ctx.job.attempt < 2:
        raise ValueError("password=hunter22 was wrong")
    return ctx.job.attempt

@wl.job(max_attempts=1)
def fail() -> None:
    raise ValueError("no")

@wl.job
def wait_for(ctx: JobContext, file: str) -> str:
    ctx.progress(0.5, "half")
    ctx.log.info("waiting", file=file, attempt_was=ctx.fence)
    while not Path(file).exists():
        ctx.checkpoint()
        time.sleep(0.02)
    return "done"

@wl.job(isolation="process")
def apart(number: int) -> int:
    return number + 1
"""
#: Nobody is there: a remote worker must not even look.
NO_DATABASE = "postgresql://nobody@127.0.0.1:1/none"


@dataclass
class Far:
    """A server with upkeep and no worker of its own, and workers that only reach the server."""

    shell: Shell
    server: Started
    url: str

    def worker(self, *args: str, **env: str) -> Started:
        env = {"WINDLASS_WORKER_LEASE_SECONDS": "2", **env}
        worker = self.shell.start(
            "worker", "far.py", "--url", self.url, *args, WINDLASS_DATABASE_URL=NO_DATABASE, **env
        )
        worker.sees("Running")
        return worker

    def enqueue(self, definition: str, **payload: object) -> str:
        _, made = ask(f"{self.url}/api/v1/jobs", {"definition": definition, "payload": payload})
        return made["job"]["id"]

    def post(self, path: str, **body: object) -> dict:
        return ask(f"{self.url}/api/v1/{path}", body)[1]

    def job(self, id: str, part: str = "") -> dict:
        return ask(f"{self.url}/api/v1/jobs/{id}{part}")[1]

    def when(self, id: str, **fields: object) -> dict:
        """Wait for the job to have these fields, and return it."""

        def look() -> dict | None:
            try:
                job = self.job(id)
            except urllib.error.URLError:  # the server is away
                return None
            return job if fields.items() <= job.items() else None

        return asyncio.run(until(look, within=60, waiting_for=str(fields)))

    def restart(self) -> None:
        self.server = serve(self.shell, self.url.rsplit(":", 1)[1])
        address(self.server)


def serve(shell: Shell, port: str = "0") -> Started:
    return shell.start(
        "serve",
        "--no-auth",
        "far.py",
        "--all",
        "--port",
        port,
        WINDLASS_WORKER_ENABLED="false",
        WINDLASS_WORKER_LEASE_SECONDS="2",
    )


@pytest.fixture
def far(shell_on: Callable[[str], Shell], database) -> Far:
    shell = shell_on(database.url)
    shell.write("far.py", JOBS)
    server = serve(shell)
    return Far(shell, server, address(server))


on_both = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)


@on_both
def test_jobs_run_fail_and_are_retried_over_http(far: Far):
    far.worker()
    ids = {name: far.enqueue(name) for name in ("flaky", "fail")}
    ids["hello"] = far.enqueue("hello", name="Ada")
    ids["apart"] = far.enqueue("apart", number=1)

    hello = far.when(ids["hello"], state="completed")
    flaky = far.when(ids["flaky"], state="completed")
    failed = far.when(ids["fail"], state="dead_letter")
    apart = far.when(ids["apart"], state="completed")

    assert (hello["result"], apart["result"]) == ({"said": "Hello, Ada!"}, 2)
    assert (flaky["attempts"], flaky["result"]) == (2, 2)
    assert (failed["last_error"], failed["error_type"]) == ("ValueError: no", "ValueError")
    first = far.job(ids["flaky"], "/attempts")["items"][0]
    assert (first["outcome"], first["error_type"]) == ("failed", "ValueError")
    assert "hunter22" not in first["error"] + first["error_trace"]


async def test_a_worker_without_a_database_has_no_handler_of_windlass_itself(database):
    app = Windlass(NO_DATABASE, settings=Settings())
    handlers: list[str] = []

    @app.job
    def hello() -> None: ...

    def started(worker: Worker) -> None:
        handlers.extend(worker._runnable.keys)
        worker.stop()

    with serving(database.url) as url:
        await work_for(ServerAddress(url), app, WorkerOptions.of(app.settings), started)

    assert handlers == ["hello"]


@on_both
def test_progress_and_logs_arrive_and_a_cancel_reaches_the_run(far: Far):
    worker = far.worker(WINDLASS_LOG_BUFFER_SECONDS="1")
    id = far.enqueue("wait_for", file="gate")
    worker.sees("waiting")

    running = far.when(id, progress=0.5)
    asyncio.run(until(lambda: far.job(id, "/logs")["items"], waiting_for="log lines"))
    far.post(f"jobs/{id}/cancel")
    canceled = far.when(id, state="canceled")

    assert (running["progress_note"], running["state"]) == ("half", "running")
    [line] = far.job(id, "/logs")["items"]
    assert (line["message"], line["fields"]["file"]) == ("waiting", "gate")
    assert canceled["outcome"] == "canceled"


@on_both
def test_jobs_of_a_killed_worker_run_again_on_another(far: Far):
    victim = far.worker()
    id = far.enqueue("wait_for", file="gate")
    victim.sees("waiting")

    victim.process.kill()
    other = far.worker()
    other.sees("waiting")
    far.shell.write("gate", "open")

    done = far.when(id, state="completed")
    outcomes = [attempt["outcome"] for attempt in far.job(id, "/attempts")["items"]]
    assert (done["result"], outcomes) == ("done", ["lost", "succeeded"])


@on_both
def test_a_server_that_is_killed_and_comes_back_costs_no_job(far: Far):
    worker = far.worker("-c", "4", WINDLASS_WORKER_LEASE_SECONDS="30")
    held = [far.enqueue("wait_for", file="gate") for _ in range(3)]
    waiting = [far.enqueue("wait_for", file="gate") for _ in range(3)]
    worker.sees("waiting", times=4)

    far.server.process.kill()
    far.server.process.wait()
    far.shell.write("gate", "open")  # their ends have nobody to be told to
    worker.sees("recording outcomes failed")
    far.restart()
    later = far.enqueue("hello", name="Ada")

    for id in [*held, *waiting, later]:
        far.when(id, state="completed")
        attempts = far.job(id, "/attempts")["items"]
        assert [attempt["outcome"] for attempt in attempts] == ["succeeded"]
    worker.stop()
    assert worker.ends() == 0


@on_both
def test_a_second_stop_hands_jobs_back_without_counting_the_attempt(far: Far):
    worker = far.worker()
    id = far.enqueue("wait_for", file="gate")
    worker.sees("waiting")
    seen = ask(f"{far.url}/api/v1/workers")[1]["items"]

    worker.stop()
    worker.sees("Letting 1 running job finish")
    worker.stop()

    assert worker.ends() == 0
    assert (far.job(id)["state"], far.job(id)["attempts"]) == ("queued", 0)
    assert len(seen) == 1
    assert ask(f"{far.url}/api/v1/workers")[1]["items"] == []


@on_both
def test_a_worker_cannot_end_a_lease_it_does_not_hold(far: Far):
    worker = far.worker()
    id = far.enqueue("wait_for", file="gate")
    worker.sees("waiting")
    holder, token = far.job(id)["worker_id"], far.job(id)["lease_token"]

    foreign = far.post(f"worker/jobs/{id}/complete", worker="someone:1", token=token)
    stale = far.post(f"worker/jobs/{id}/complete", worker=holder, token=token - 1)
    far.shell.write("gate", "open")
    done = far.when(id, state="completed")

    assert (foreign["state"], stale["state"]) == (None, None)
    assert done["result"] == "done"


@pytest.fixture
def near(shell: Shell) -> Shell:
    shell.write("far.py", JOBS)
    return shell


def test_without_a_server_a_worker_does_not_start(near: Shell):
    refused = near.run("worker", "far.py", "--url", "http://127.0.0.1:1")

    assert refused.code == 6
    assert "error[WL1110]: cannot reach the server at http://127.0.0.1:1." in refused.err


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--url", "ftp://far"], "a server's address"),
        (["--url", "http://far", "--db", "sqlite:///x.db"], "exclude each other"),
        (["--url", "http://far", "--token-file", "nowhere"], "a file that can be read"),
        (["--url", "http://far", "--token-file", "empty"], "one token in it"),
    ],
)
def test_invalid_combinations_of_flags_are_usage_errors(near: Shell, args, told):
    near.write("empty", "\n")

    refused = near.run("worker", "far.py", *args)

    assert refused.code == 2
    assert told in refused.err


GUARDED = """
import asyncio
from far import wl
from windlass.api.app import create_api
from windlass.api.access.callers import Caller
from windlass.api.server import Server
from windlass.cli.run.listen_sockets import address, listen
from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import NotAuthenticated

RIGHTS = {"Bearer good": {"worker.work"}, "Bearer reader": {"jobs.read"}}

async def authenticate(request):
    rights = RIGHTS.get(request.headers.get("authorization"))
    if rights is None:
        raise NotAuthenticated
    return Caller("far", ALL_TENANTS, frozenset(rights))

async def main():
    await hello()
    listening = listen("127.0.0.1", 0)
    server = Server(create_api(wl, authenticate=authenticate), listening)
    print(f"The API is at {address(listening)}/api/v1", flush=True)
    await server.serve_until_stopped()

async def hello():
    await wl.ready()
    await wl.enqueue("hello", {"name": "Ada"})

asyncio.run(main())
"""


@pytest.fixture
def guarded(near: Shell) -> str:
    """The address of a server that requires tokens, with one job."""
    near.write("guarded.py", GUARDED)
    return address(near.start_python("guarded.py"))


@pytest.mark.parametrize("token", [None, "wrong", "reader"])
def test_a_worker_that_the_server_refuses_does_not_start(near: Shell, guarded: str, token):
    env = {} if token is None else {"WINDLASS_TOKEN": token}

    refused = near.run("worker", "far.py", "--url", guarded, "--drain", **env)

    assert refused.code == 4
    assert re.search(r"error\[WL510[12]\]", refused.err)


@pytest.mark.parametrize("where", ["file", "environment"])
def test_the_token_is_read_from_a_file_or_the_environment(near: Shell, guarded: str, where):
    near.write("token", "good\n")
    given = ["--token-file", "token"] if where == "file" else []
    env = {} if where == "file" else {"WINDLASS_TOKEN": "good"}

    near.ok("worker", "far.py", "--url", guarded, "--drain", *given, **env)

    [job] = near.here("jobs", "list", "--json").json["items"]
    assert job["state"] == "completed"
    assert job["worker_id"].startswith("far/")
