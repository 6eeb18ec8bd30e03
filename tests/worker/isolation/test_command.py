"""Commands as jobs: exactly the declared program runs; its output and exit are recorded."""

import json
import os
import sys

import pytest

from tests.databases.servers.cleanup import is_running
from tests.support.wait import until
from tests.worker.builders import Run, a_lease
from tests.worker.isolation.command_programs import TEXT, a_command, program
from windlass import Settings
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.json_text import load_json
from windlass.settings import LimitSettings, RedactionSettings

__all__ = ["program"]

SAYS_ITS_ARGUMENTS = "import json; print(json.dumps(sys.argv[1:]))"


@pytest.fixture
def run(storage):
    """Runs a command to its end."""

    async def begin(argv, payload="{}", *, job=None, settings=None, **options):
        lease = await a_lease(storage, payload, **(job or {}))
        one = Run(lease, a_command(argv, settings, **options))
        return one, await one.end()

    return begin


async def test_the_declared_words_run_with_the_jobs_own_tenant(run, program):
    argv = [program(SAYS_ITS_ARGUMENTS), "sync", "{text}", "a b", "$HOME", "*"]

    _, finish = await run(argv, '{"text": "; rm -rf /"}', payload_schema=TEXT, result="json")

    assert finish.state is JobState.COMPLETED
    assert load_json(finish.result) == [
        "sync", "; rm -rf /", "a b", "$HOME", "*", "--tenant-id", "default",
    ]  # fmt: skip


async def test_process_details_are_stored_for_a_success_too(run, program):
    argv = [program("print('out'); print('err', file=sys.stderr); print(os.getpid())")]

    one, finish = await run(argv)

    assert finish.outcome is Outcome.SUCCEEDED
    assert load_json(finish.result) == {"exit_code": 0}
    assert (finish.exit_code, finish.stderr_tail) == (0, "err\n")
    assert finish.stdout_tail == f"out\n{finish.pid}\n"
    assert {line[:2] for line in one.sink.lines} == {
        ("info", "out"), ("info", str(finish.pid)), ("warn", "err"),
    }  # fmt: skip


async def test_a_non_zero_exit_is_retried(run, program):
    _, finish = await run(
        [program("print('first\\n\\nthe disk is full\\n', file=sys.stderr); sys.exit(3)")]
    )

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.QUEUED)
    assert (finish.error_type, finish.exit_code) == ("CommandFailed", 3)
    assert finish.error == "command exited with code 3: the disk is full"
    assert finish.stderr_tail == "first\n\nthe disk is full\n\n"


@pytest.mark.parametrize(
    ("meaning", "state"),
    [
        ("success", JobState.COMPLETED),
        ("retry", JobState.QUEUED),
        ("permanent", JobState.DEAD_LETTER),
    ],
)
async def test_exit_codes_mean_what_the_declaration_says(run, program, meaning, state):
    _, finish = await run([program("sys.exit(64)")], exit_codes={64: meaning})

    assert (finish.state, finish.exit_code) == (state, 64)


async def test_the_error_names_the_signal_that_ended_a_command(run, program):
    _, finish = await run([program("os.kill(os.getpid(), 9)")])

    assert finish.error == "command was ended by signal SIGKILL"
    assert (finish.error_type, finish.exit_code) == ("CommandFailed", -9)


async def test_a_killed_supervisor_leaves_no_process_and_is_reported(run, program):
    _, finish = await run([program("os.kill(os.getppid(), 9); time.sleep(600)")])

    assert finish.error == "command was ended by signal SIGKILL"
    await until(lambda: not is_running(finish.pid), within=15)  # 5 s are promised


async def test_a_missing_executable_is_reported_with_its_search_path(run, tmp_path):
    _, named = await run(["no-such-tool"])
    _, placed = await run(["bin/tool"], cwd=str(tmp_path))

    assert {named.error_type, placed.error_type} == {"CommandNotFound"}
    assert {named.state, placed.state} == {JobState.DEAD_LETTER}
    assert "'no-such-tool'" in named.error
    assert "/usr/local/bin:/usr/bin:/bin" in named.error
    assert str(tmp_path / "bin" / "tool") in placed.error


async def test_a_file_that_is_no_program_fails_to_start(run, tmp_path):
    (tmp_path / "text").write_text("\x00 not a program")
    (tmp_path / "text").chmod(0o755)

    _, finish = await run([str(tmp_path / "text")])
    _, nowhere = await run(["true"], cwd=str(tmp_path / "nowhere"))

    assert {finish.error_type, nowhere.error_type} == {"CommandNotStarted"}
    assert "Exec format error" in finish.error
    assert "No such file" in nowhere.error
    assert {finish.state, nowhere.state} == {JobState.DEAD_LETTER}
    assert {finish.exit_code, nowhere.exit_code} == {None}


async def test_a_command_gets_only_its_allowed_environment(run, program, monkeypatch):
    monkeypatch.setenv("ALLOWED", "yes")
    monkeypatch.setenv("FORBIDDEN", "no")
    argv = [program("import json; print(json.dumps(dict(os.environ)))")]

    _, bare = await run(argv, result="json")
    _, finish = await run(
        argv, result="json", env=["ALLOWED", "NOT_SET"], env_values={"FIXED": "1"}
    )

    # Python itself sets LC_CTYPE where no locale is.
    known = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    assert {k: v for k, v in load_json(bare.result).items() if k != "LC_CTYPE"} == known
    assert {k: v for k, v in load_json(finish.result).items() if k != "LC_CTYPE"} == {
        **known, "ALLOWED": "yes", "FIXED": "1",
    }  # fmt: skip


async def test_a_command_may_use_the_workers_path(run, program, tmp_path, monkeypatch):
    program("print('found')", "tool-of-mine")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    _, finish = await run(["tool-of-mine"], env=["PATH"])

    assert finish.stdout_tail == "found\n"


async def test_a_command_has_empty_input_and_a_session_of_its_own(run, program, tmp_path):
    argv = [
        program(
            "import json\n"
            "print(json.dumps({'in': sys.stdin.read(), 'cwd': os.getcwd(), 'sid': os.getsid(0),\n"
            " 'open': [n for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]}))"
        )
    ]
    leaked, other = os.pipe()
    os.set_inheritable(leaked, True)
    os.set_inheritable(other, True)
    try:
        _, finish = await run(argv, result="json", cwd=str(tmp_path))
    finally:
        os.close(leaked)
        os.close(other)

    said = load_json(finish.result)
    assert (said["in"], said["cwd"]) == ("", str(tmp_path))
    assert said["sid"] != os.getsid(0)
    # The fourth is the list itself.
    assert len(said["open"]) <= 4


async def test_limits_of_memory_and_cpu_hold(run, program):
    much = program("x = bytearray(2_000_000_000); print('no limit')")
    long = program("\nwhile True: pass", "long")

    _, memory = await run([much], memory_limit_mb=500)
    _, time = await run([long], cpu_seconds=1)

    assert "MemoryError" in memory.error
    assert time.error == "command was ended by signal SIGXCPU"


async def test_output_is_redacted_before_it_is_stored(run, program, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "from-the-environment")
    schema = {"properties": {"key": {"type": "string", "writeOnly": True}}, "required": ["key"]}
    argv = [
        program(
            "print('key is', sys.argv[1], sys.argv[1].encode().hex()); print('acme_live_1234')\n"
            "import base64; print(base64.b64encode(os.environb[b'API_TOKEN']).decode())\n"
            "print(os.environ['API_TOKEN'], 'password=hunter2', file=sys.stderr); sys.exit(1)"
        ),
        "{key}",
    ]

    one, finish = await run(
        argv, '{"key": "s3cr3t-value"}',
        payload_schema=schema, env=["API_TOKEN"],
    )  # fmt: skip

    everything = json.dumps([one.sink.lines, finish.stdout_tail, finish.stderr_tail, finish.error])
    encoded = ("7333637233742d76616c7565", "ZnJvbS10aGUtZW52aXJvbm1lbnQ")
    for secret in ("s3cr3t-value", "from-the-environment", "hunter2", *encoded):
        assert secret not in everything
    assert finish.stdout_tail.startswith("key is ••• •••\n")


async def test_output_of_any_size_is_read_in_bounded_memory(run, program):
    argv = [
        program(
            "sys.stdout.buffer.write(b'x' * 200_000 + b'\\n' + b'\\xff\\xfe bytes\\n')\n"
            "sys.stdout.buffer.write(b'y' * 50_000_000)"
        )
    ]

    one, finish = await run(argv)

    first, second, third = (message for _, message, _ in one.sink.lines)
    assert len(first) <= 16 * 1024
    assert second == "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} bytes"
    assert len(third) <= 16 * 1024
    assert finish.stdout_tail == "y" * 64 * 1024


async def test_very_many_lines_are_limited_in_the_log_but_the_tail_has_the_end(run, program):
    one, finish = await run([program("for n in range(300_000): print(n)")])

    lines = [message for _, message, _ in one.sink.lines]
    assert lines[:2] == ["0", "1"]
    assert len(lines) < 100_000
    assert any("lines left out" in line for line in lines)
    assert finish.stdout_tail.endswith("\n299999\n")


async def test_a_smaller_tail_may_be_set(run, program):
    settings = Settings(
        limits=LimitSettings(output_tail_bytes=10), redaction=RedactionSettings(names=("iban",))
    )

    _, finish = await run([program("print('0123456789abcdef')")], settings=settings)

    assert finish.stdout_tail == "789abcdef\n"


async def test_a_progress_bar_is_logged_as_one_line(run, program):
    one, _ = await run(
        [program(r"for n in range(5000): sys.stderr.write(f'\rstep {n}'); sys.stderr.flush()")]
    )

    assert one.sink.lines == [("warn", "step 4999", {})]


async def test_output_that_is_not_json_is_a_warning(run, program):
    _, finish = await run([program("print('done')")], result="json")

    assert (finish.state, finish.result) == (JobState.COMPLETED, None)
    assert "not JSON" in finish.warnings


async def test_a_stored_payload_is_validated_again_before_the_command_runs(run, program):
    argv = [program(SAYS_ITS_ARGUMENTS), "{text}"]

    _, finish = await run(argv, '{"text": {"a": 1}}', payload_schema=TEXT)

    assert finish.outcome is Outcome.FAILED
    assert finish.pid is None
    assert sys.executable not in finish.error
