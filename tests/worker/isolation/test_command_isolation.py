"""Commands cannot reach their worker's environment and descriptors, and run as the right user."""

import asyncio
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases.servers.cleanup import is_running
from tests.support.wait import until
from tests.worker.builders import Run, a_lease
from tests.worker.isolation.command_programs import a_command, program
from tests.worker.isolation.process_handlers import far
from windlass import Settings, Windlass
from windlass.core.jobs.states import JobState
from windlass.errors import DefinitionInvalid, RunAsUnavailable
from windlass.worker.isolation import run_as
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.process import ProcessRunner

__all__ = ["program"]

IS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")
#: As a user that is not root, with the one capability that lets it read Python's own files.
UNPRIVILEGED = (
    [
        "setpriv", f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups",
        "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
    ]
    if IS_ROOT
    else []
)  # fmt: skip

#: Reads the environment of each of its ancestors, if it may.
LOOKS_AROUND = """#!/bin/sh
pid=$PPID
while [ "$pid" -gt 1 ]; do
    echo "ancestor $pid"
    for file in environ mem maps; do
        head -c 65536 "/proc/$pid/$file" 2>/dev/null | tr '\\0' '\\n'
    done
    ls -l "/proc/$pid/fd" 2>/dev/null
    pid=$(sed 's/.*) . \\([0-9]*\\).*/\\1/' "/proc/$pid/stat")
done
echo the end
"""

#: A worker of its own, with a secret in its environment.
WORKER = """
import asyncio, os, sys
from windlass import Settings, Windlass

wl = Windlass(f"sqlite:///{sys.argv[1]}/jobs.db", settings=Settings())
look = wl.command("look", [sys.argv[2]], tenant_flag=None)

async def main():
    async with wl.running():
        receipt = await look.enqueue()
        await (await wl.jobs.get(receipt.job_id)).wait("60s")
        [attempt] = await (await wl.ready()).jobs.attempts(receipt.job_id)
        print(f"worker {os.getpid()}")
        print(attempt.stdout_tail)

asyncio.run(main())
"""


#: Tells the pids of its supervisor, itself and a child in a session of its own, and stays.
LEAVES_ITS_SESSION = (
    "use POSIX; $| = 1; $child = fork; if (!$child) {{POSIX::setsid; sleep 600; exit}} "
    'print getppid, " $$ $child\\n"; sleep 600'
)


@pytest.fixture
def run(storage):
    """Starts a command."""

    async def begin(argv, *, settings=None, **options):
        handler = a_command(argv, settings, tenant_flag=None, **options)
        return Run(await a_lease(storage), handler)

    return begin


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may use, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_a_command_cannot_inspect_its_worker_or_supervisor(open_folder: Path):
    script, worker = open_folder / "look", open_folder / "worker.py"
    script.write_text(LOOKS_AROUND)
    script.chmod(0o755)
    worker.write_text(WORKER)
    environment = {**os.environ, "SHOP_KEY": "marked-4711", "DATABASE_URL": "marked-0815"}

    done = subprocess.run(
        [*UNPRIVILEGED, sys.executable, str(worker), str(open_folder), str(script)],
        env=environment,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    [own] = [line.split()[1] for line in lines if line.startswith("worker ")]
    assert f"ancestor {own}" in lines
    assert "the end" in lines
    assert "marked" not in done.stdout
    assert "jobs.db" not in done.stdout, "a descriptor of the worker was seen"


def is_closed(pid: int) -> bool:
    """Whether a Python process of the unprivileged user can only be looked into by root."""
    place = Path(f"/proc/{pid}")
    status = (place / "status").read_text()
    user = NOBODY.pw_uid if IS_ROOT else os.geteuid()
    runs = "Name:\tpython" in status and f"Uid:\t{user}" in status
    return runs and (place / "environ").stat().st_uid == 0


@pytest.mark.parametrize("command", ["worker", "scheduler", "serve"])
async def test_windlass_processes_are_closed_to_inspection_by_their_user(
    open_folder: Path, command
):
    process = await asyncio.create_subprocess_exec(
        *[*UNPRIVILEGED, sys.executable, "-m", "windlass.cli", command],
        env={**os.environ, "WINDLASS_DATABASE_URL": f"sqlite:///{open_folder}/jobs.db"},
        cwd=open_folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        await until(lambda: is_closed(process.pid))
    finally:
        process.kill()
        await process.wait()


async def test_a_command_has_only_the_standard_descriptors(run, program, tmp_path):
    left_open = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(left_open, True)
    try:
        one = await run([program("print(sorted(map(int, os.listdir('/proc/self/fd'))))")])
        finish = await one.end()
    finally:
        os.close(left_open)

    assert finish.stdout_tail == "[0, 1, 2, 3]\n"  # the last is the listing itself


@pytest.mark.parametrize("kind", ["afresh", "forked"])
async def test_a_process_isolated_run_has_one_socket_to_its_worker(storage, kind):
    fork_servers = ForkServerPool() if kind == "forked" else None
    children = ProcessRunner(fork_servers)
    try:
        one = Run(await a_lease(storage), far.handlers["descriptors"], children=children)
        finish = await one.end()
    finally:
        await children.close()

    assert finish.result == '["socket"]'


async def test_a_command_runs_as_its_run_as_user(run):
    if not IS_ROOT:
        finish = await (await run(["id"], run_as="nobody")).end()
        assert "only a worker that runs as root" in finish.error
        return

    said = {
        name: (await (await run(argv, run_as=who, cwd="/")).end()).stdout_tail
        for name, argv, who in (
            ("name", ["id"], "nobody"),
            ("both", ["id"], "4711:4712"),
            ("env", ["env"], "nobody"),
            ("status", ["cat", "/proc/self/status"], "nobody"),
        )
    }

    ids = f"uid={NOBODY.pw_uid}(nobody) gid={NOBODY.pw_gid}"
    assert said["name"].startswith(ids)
    assert "groups=0" not in said["name"]
    assert said["both"] == "uid=4711 gid=4712 groups=4712\n"
    assert f"HOME={NOBODY.pw_dir}\nUSER=nobody\nLOGNAME=nobody\n" in said["env"]
    assert "CapPrm:\t0000000000000000" in said["status"]


async def test_run_as_has_a_default_setting_that_a_command_can_override(run):
    settings = Settings(command_run_as="nobody")
    own = f"{os.geteuid()}:{os.getegid()}"

    different = await (await run(["id", "-u"], settings=settings, run_as=own)).end()
    default = await (await run(["id", "-u"], settings=settings)).end()

    assert different.stdout_tail == f"{os.geteuid()}\n"
    if IS_ROOT:
        assert default.stdout_tail == f"{NOBODY.pw_uid}\n"
    else:
        assert default.state is JobState.DEAD_LETTER


async def test_processes_of_another_user_end_with_their_attempt(run):
    who = "nobody" if IS_ROOT else f"{os.geteuid()}:{os.getegid()}"
    one = await run(["perl", "-e", LEAVES_ITS_SESSION], run_as=who, cwd="/", grace=0)
    [said] = await until(lambda: [line[1] for line in one.sink.lines])

    one.attempt.stop("canceled")
    await one.end()

    for pid in map(int, said.split()):
        await until(lambda pid=pid: not is_running(pid))


async def test_a_command_of_another_user_can_open_its_output_by_name(run):
    who = "nobody" if IS_ROOT else f"{os.geteuid()}:{os.getegid()}"
    writes = 'for (qw(out err)) {{open F, ">", "/dev/std$_" or die $!; print F "$_\\n"; close F}}'

    finish = await (await run(["perl", "-e", writes], run_as=who, cwd="/")).end()

    assert (finish.stdout_tail, finish.stderr_tail) == ("out\n", "err\n")


async def test_a_working_directory_closed_to_the_user_is_reported(run, tmp_path):
    if not IS_ROOT:
        return
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)

    finish = await (await run(["id"], run_as="nobody", cwd=str(closed))).end()

    assert (finish.error_type, finish.state) == ("CommandNotStarted", JobState.DEAD_LETTER)
    assert "Permission denied" in finish.error


UNKNOWN = {
    "no-such-user-here": "no such user",
    "4123456": "give uid:gid",
    "4294967295:1": "too large",
}


@pytest.mark.parametrize("who", UNKNOWN)
async def test_a_worker_does_not_start_with_a_command_whose_user_is_unknown(who, tmp_path):
    wl = Windlass(f"sqlite:///{tmp_path}/jobs.db", settings=Settings())
    wl.command("plain", ["true"], run_as=who)

    with pytest.raises(RunAsUnavailable, match=UNKNOWN[who]):
        async with wl.running():
            pass
    await wl.close()


def test_a_worker_that_is_not_root_cannot_change_the_user(monkeypatch):
    monkeypatch.setattr(run_as.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(run_as.os, "getegid", lambda: 1000)

    with pytest.raises(RunAsUnavailable, match="runs as root"):
        run_as.resolve_run_as("nobody")
    assert run_as.resolve_run_as("1000:1000").uid == 1000


@pytest.mark.parametrize("who", ["", "a b", "1:", ":1", "root;x", "-1", 7])
def test_an_invalid_run_as_is_refused_at_declaration(who):
    with pytest.raises(DefinitionInvalid, match="Use the name of a user"):
        a_command(["true"], run_as=who)


def test_an_invalid_default_run_as_is_refused_by_the_worker():
    with pytest.raises(RunAsUnavailable, match="neither the name of a user"):
        run_as.resolve_run_as("12:ab")
