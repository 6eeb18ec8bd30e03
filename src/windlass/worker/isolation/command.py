"""Command: runs an allowed program without a shell, in its own session, with a clean environment.

The program and its arguments come from the declaration in this process; a job contributes only the
values of its payload and its tenant. A supervisor ends everything that the command started.
"""

import asyncio
import contextlib
import errno
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any, Literal

from windlass.core.definitions.argv import ArgvTemplate
from windlass.core.definitions.exit_codes import Meaning, in_words
from windlass.core.jobs.outcome import Failure
from windlass.core.leases.lease import Lease
from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.payloads.redact import Redactor
from windlass.errors import RunAsUnavailable
from windlass.tasks import start_task
from windlass.worker.context import JobContext
from windlass.worker.isolation.output import OutputReader
from windlass.worker.isolation.prctl import deny_inspection
from windlass.worker.isolation.process import ProcessRunFailed
from windlass.worker.isolation.run_as import RunAsUser, resolve_run_as

#: The search path of a command that is not given the worker's own PATH.
PATH = "/usr/local/bin:/usr/bin:/bin"
#: How long killing a process tree may take, reading its last output included.
END_SECONDS = 2.0
_LOST_GRACE_SECONDS = 3.0
#: How long reading the rest of the output may take after a command has ended by itself.
_READ_SECONDS = 30.0
#: How long a killed supervisor may take to be gone: the kernel's business, slow on a busy machine.
_KILLED_SECONDS = 30.0
_ORDER_BYTES = 1024 * 1024
#: The variables that a supervisor needs to find Python and its modules.
_SUPERVISOR_ENV = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH",
               "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE",
               "PYTHONPYCACHEPREFIX")  # fmt: skip
#: Errors of a failed start that are worth a retry.
_TRANSIENT = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY})


@dataclass(slots=True)
class ProcessRecord:
    """Process details of an attempt: pid, exit code and output, filled in while it runs."""

    pid: int | None = None
    exit_code: int | None = None
    stdout: OutputReader | None = None
    stderr: OutputReader | None = None
    refused: Mapping[str, Any] = field(default_factory=dict)

    @property
    def outcome_fields(self) -> dict[str, Any]:
        """The fields of the attempt's end."""
        if self.pid is None:
            return {}
        tails = {
            "stdout_tail": self.stdout.tail if self.stdout else None,
            "stderr_tail": self.stderr.tail if self.stderr else None,
        }
        return {"pid": self.pid, "exit_code": self.exit_code, **tails}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as it was declared.

    `env` names variables passed on from the worker, `env_values` has fixed ones. `run_as` is the user
    it runs as, the worker's own if None. Limits are those of each process of the command.
    """

    argv: ArgvTemplate
    env: tuple[str, ...] = ()
    env_values: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    run_as: str | None = None
    grace_seconds: float = 3.0
    memory_limit_mb: int | None = None
    cpu_seconds: int | None = None
    result: Literal["exit_code", "json"] = "exit_code"
    line_bytes: int
    tail_bytes: int

    async def run(
        self,
        lease: Lease,
        payload: Mapping[str, Any],
        context: JobContext,
        record: ProcessRecord,
        redactor: Redactor,
        secrets: KnownSecrets,
    ) -> Any:
        """Run one attempt and return its result. Raises ProcessRunFailed."""
        argv = self.argv.build(payload, lease.tenant)
        identity = self._identity()
        env = self._environment(identity)
        executable = self._executable(env["PATH"])
        env_secrets = KnownSecrets(v for name, v in env.items() if redactor.is_secret_name(name))

        def hide(text: str) -> str:
            return redactor.redact_text(env_secrets.hide(text), secrets)

        new_reader = partial(
            OutputReader, hide=hide, line_bytes=self.line_bytes, tail_bytes=self.tail_bytes
        )
        record.stdout = new_reader(context.log.info)
        record.stderr = new_reader(context.log.warning)
        order = {
            "executable": executable,
            "argv": argv,
            "env": env,
            "cwd": self.cwd,
            "run_as": None if identity is None else identity.order,
            "memory_limit_mb": self.memory_limit_mb,
            "cpu_seconds": self.cpu_seconds,
        }
        deny_inspection()  # commands must not read the environment of this process
        await self._run_supervised(json.dumps(order).encode() + b"\n", context, record)
        return self._result_of(record, context)

    def _identity(self) -> RunAsUser | None:
        try:
            return None if self.run_as is None else resolve_run_as(self.run_as)
        except RunAsUnavailable as error:
            raise ProcessRunFailed(
                Failure(error=str(error), error_type="CommandNotStarted", permanent=True)
            ) from None

    def _environment(self, identity: RunAsUser | None) -> dict[str, str]:
        own = {} if identity is None else identity.environment
        passed = {name: os.environ[name] for name in self.env if name in os.environ}
        return {"PATH": PATH, **own, **passed, **self.env_values}

    def _executable(self, path: str) -> str:
        name = self.argv.executable
        if "/" in name:
            found = Path(self.cwd or ".", name)
            if os.access(found, os.X_OK) and found.is_file():
                return str(found.absolute())
            where = f"at {found.absolute()}"
        else:
            if (there := which(name, path=path)) is not None:
                return os.path.abspath(there)
            where = f"in {path}"
        raise ProcessRunFailed(
            Failure(
                error=f"the command {name!r} was not found: no executable file {where}",
                error_type="CommandNotFound",
                permanent=True,
            )
        )

    async def _run_supervised(
        self, order: bytes, context: JobContext, record: ProcessRecord
    ) -> None:
        read_end, write_end = os.pipe()
        try:
            supervisor = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "windlass.worker.isolation.supervisor",
                str(write_end),
                "command",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(write_end,),
                env={name: os.environ[name] for name in _SUPERVISOR_ENV if name in os.environ},
                start_new_session=True,
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        run = _SupervisedCommand(supervisor, read_end, record)
        try:
            await run.go(order)
        finally:
            grace = self.grace_seconds
            if context.stopping == "lost":
                grace = min(grace, _LOST_GRACE_SECONDS)
            await asyncio.shield(run.end(grace))

    def _result_of(self, record: ProcessRecord, context: JobContext) -> Any:
        code = record.exit_code
        assert record.stdout is not None
        assert record.stderr is not None
        if record.refused:
            raise ProcessRunFailed(_start_failure(self.argv.executable, record))
        # Unknown only if the supervisor was killed.
        meaning = Meaning.RETRY if code is None else self.argv.exit_codes.meaning(code)
        if meaning is not Meaning.SUCCESS:
            ending = in_words(-signal.SIGKILL if code is None else code)
            last = record.stderr.last_line
            raise ProcessRunFailed(
                Failure(
                    error=f"command {ending}: {last}" if last else f"command {ending}",
                    error_type="CommandFailed",
                    permanent=meaning is Meaning.PERMANENT,
                )
            )
        return {"exit_code": code} if self.result == "exit_code" else _json(record.stdout, context)


class _SupervisedCommand:
    """A supervisor with its command, from the order to the end of all of its processes."""

    def __init__(
        self, supervisor: asyncio.subprocess.Process, read_end: int, record: ProcessRecord
    ) -> None:
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        assert record.stdout is not None
        assert record.stderr is not None
        self._supervisor = supervisor
        self._process_record = record
        # All of them continue while the run is being ended: its last output counts.
        self._listening = start_task(_listen(read_end, record))
        self._reading = [
            start_task(record.stdout.read(supervisor.stdout)),
            start_task(record.stderr.read(supervisor.stderr)),
        ]

    async def go(self, order: bytes) -> None:
        """Send the order; returns when the command has ended, and its process tree."""
        assert self._supervisor.stdin is not None
        with contextlib.suppress(ConnectionError):  # it is gone: listening ends
            self._supervisor.stdin.write(order)
            await self._supervisor.stdin.drain()
        await asyncio.shield(self._listening)

    async def end(self, grace: float) -> None:
        """End all that is left: SIGTERM first, then SIGKILL. The output until then is read."""
        assert self._supervisor.stdin is not None
        read_seconds = _READ_SECONDS if self._listening.done() else END_SECONDS * 0.25
        try:
            if not self._listening.done():
                self._signal(signal.SIGTERM)
                await asyncio.wait([self._listening], timeout=grace)
            self._supervisor.stdin.close()  # the supervisor kills all it has adopted, then exits
            await asyncio.wait([self._listening], timeout=END_SECONDS * 0.75)
        finally:
            if self._process_record.exit_code is None:
                # The group outlives its leader if the supervisor itself was killed.
                self._signal(signal.SIGKILL)
            await asyncio.wait(self._reading, timeout=read_seconds)
            # It ends right after its last message, or is killed: no process is left behind, and
            # none is left to the garbage collector, however busy the machine is.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._supervisor.wait(), END_SECONDS * 0.25)
            if self._supervisor.returncode is None:
                self._signal(signal.SIGKILL)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._supervisor.wait(), _KILLED_SECONDS)
            for task in (self._listening, *self._reading):
                task.cancel()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._supervisor.pid, number)


async def _listen(read_end: int, record: ProcessRecord) -> None:
    """Fill in the record from the messages of the supervisor and the process."""
    reader = asyncio.StreamReader(limit=_ORDER_BYTES)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    try:
        while line := await reader.readline():
            message: dict[str, Any] = json.loads(line)
            match message["kind"]:
                case "began":
                    pass  # sent by the supervisor itself
                case "started":
                    record.pid = message["pid"]
                case "refused":
                    record.refused = message
                case _:
                    record.exit_code = message["code"]
    finally:
        transport.close()


def _start_failure(executable: str, record: ProcessRecord) -> Failure:
    record.exit_code = None
    return Failure(
        error=f"the command {executable!r} could not be started: {record.refused['why']}",
        error_type="CommandNotStarted",
        permanent=record.refused["number"] not in _TRANSIENT,
    )


def _json(stdout: OutputReader, context: JobContext) -> Any:
    try:
        return json.loads(stdout.last_bytes)
    except (ValueError, RecursionError):
        context.warn("the last line of its output is not JSON")
        return None
