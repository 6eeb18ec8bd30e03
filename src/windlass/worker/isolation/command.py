"""Runs a command: no shell, its own session, its environment from an allowlist.

What is run comes from the declaration in this process alone; a job brings nothing but its payload's
values and its tenant. The command runs under a supervisor, which ends everything it started.
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
from windlass.worker.isolation.process import ProcessRunFailed
from windlass.worker.isolation.run_as import RunAsUser, resolve_run_as
from windlass.worker.linux import deny_inspection

#: What a command is looked for in that is not given the worker's own PATH.
PATH = "/usr/local/bin:/usr/bin:/bin"
#: How long the end of a tree may take once it is forced, reading its last words included.
END_SECONDS = 2.0
_LOST_GRACE_SECONDS = 3.0
#: How long reading on may take after a command that has ended by itself.
_READ_SECONDS = 30.0
#: How long a killed supervisor may take to be gone: the kernel's business, slow on a busy machine.
_KILLED_SECONDS = 30.0
_ORDER_BYTES = 1024 * 1024
#: What a supervisor needs of the worker's environment: to find Python and its modules.
_SUPERVISOR_ENV = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH",
               "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE",
               "PYTHONPYCACHEPREFIX")  # fmt: skip
#: A command that could not be started for one of these may be tried again.
_PASSING = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY})


@dataclass(slots=True)
class ProcessRecord:
    """What an attempt's record tells of a process, filled in as it goes."""

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
        account: ProcessRecord,
        redactor: Redactor,
        secrets: KnownSecrets,
    ) -> Any:
        """Run one attempt and answer its result; ProcessRunFailed tells how it failed."""
        argv = self.argv.build(payload, lease.tenant)
        identity = self._identity()
        env = self._environment(identity)
        executable = self._executable(env["PATH"])
        of_env = KnownSecrets(v for name, v in env.items() if redactor.is_secret_name(name))

        def hide(text: str) -> str:
            return redactor.redact_text(of_env.hide(text), secrets)

        sized = partial(
            OutputReader, hide=hide, line_bytes=self.line_bytes, tail_bytes=self.tail_bytes
        )
        account.stdout = sized(context.log.info)
        account.stderr = sized(context.log.warning)
        order = {
            "executable": executable,
            "argv": argv,
            "env": env,
            "cwd": self.cwd,
            "run_as": None if identity is None else identity.order,
            "memory_limit_mb": self.memory_limit_mb,
            "cpu_seconds": self.cpu_seconds,
        }
        deny_inspection()  # what this process was given in its environment is not for commands
        await self._run_supervised(json.dumps(order).encode() + b"\n", context, account)
        return self._result_of(account, context)

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
        self, order: bytes, context: JobContext, account: ProcessRecord
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
        run = _SupervisedCommand(supervisor, read_end, account)
        try:
            await run.go(order)
        finally:
            grace = self.grace_seconds
            if context.stopping == "lost":
                grace = min(grace, _LOST_GRACE_SECONDS)
            await asyncio.shield(run.end(grace))

    def _result_of(self, account: ProcessRecord, context: JobContext) -> Any:
        code = account.exit_code
        assert account.stdout is not None
        assert account.stderr is not None
        if account.refused:
            raise ProcessRunFailed(_start_failure(self.argv.executable, account))
        # Not even the supervisor could tell it.
        meaning = Meaning.RETRY if code is None else self.argv.exit_codes.meaning(code)
        if meaning is not Meaning.SUCCESS:
            how = in_words(-signal.SIGKILL if code is None else code)
            last = account.stderr.last_line
            raise ProcessRunFailed(
                Failure(
                    error=f"command {how}: {last}" if last else f"command {how}",
                    error_type="CommandFailed",
                    permanent=meaning is Meaning.PERMANENT,
                )
            )
        return {"exit_code": code} if self.result == "exit_code" else _json(account.stdout, context)


class _SupervisedCommand:
    """A supervisor with a command under it, from its order to the end of all of its processes."""

    def __init__(
        self, supervisor: asyncio.subprocess.Process, read_end: int, account: ProcessRecord
    ) -> None:
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        assert account.stdout is not None
        assert account.stderr is not None
        self._supervisor = supervisor
        self._process_record = account
        # All go on while the run is being ended: it may have something to say about that.
        self._listening = start_task(_listen(read_end, account))
        self._reading = [
            start_task(account.stdout.read(supervisor.stdout)),
            start_task(account.stderr.read(supervisor.stderr)),
        ]

    async def go(self, order: bytes) -> None:
        """Have the order carried out; returns when the command has ended, and its tree."""
        assert self._supervisor.stdin is not None
        with contextlib.suppress(ConnectionError):  # it is gone: listening tells how
            self._supervisor.stdin.write(order)
            await self._supervisor.stdin.drain()
        await asyncio.shield(self._listening)

    async def end(self, grace: float) -> None:
        """End whatever is left: asked first, then forced. What it said until then is read."""
        assert self._supervisor.stdin is not None
        patience = _READ_SECONDS if self._listening.done() else END_SECONDS * 0.25
        try:
            if not self._listening.done():
                self._signal(signal.SIGTERM)
                await asyncio.wait([self._listening], timeout=grace)
            self._supervisor.stdin.close()  # the supervisor ends everything it has adopted, then itself
            await asyncio.wait([self._listening], timeout=END_SECONDS * 0.75)
        finally:
            if self._process_record.exit_code is None:
                # The group outlives its leader, should somebody have killed the supervisor.
                self._signal(signal.SIGKILL)
            await asyncio.wait(self._reading, timeout=patience)
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


async def _listen(read_end: int, account: ProcessRecord) -> None:
    """Note what the supervisor and the process tell of themselves."""
    reader = asyncio.StreamReader(limit=_ORDER_BYTES)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    try:
        while line := await reader.readline():
            message: dict[str, Any] = json.loads(line)
            match message["kind"]:
                case "began":
                    pass  # the supervisor's own word
                case "started":
                    account.pid = message["pid"]
                case "refused":
                    account.refused = message
                case _:
                    account.exit_code = message["code"]
    finally:
        transport.close()


def _start_failure(executable: str, account: ProcessRecord) -> Failure:
    account.exit_code = None
    return Failure(
        error=f"the command {executable!r} could not be started: {account.refused['why']}",
        error_type="CommandNotStarted",
        permanent=account.refused["number"] not in _PASSING,
    )


def _json(stdout: OutputReader, context: JobContext) -> Any:
    try:
        return json.loads(stdout.last_bytes)
    except (ValueError, RecursionError):
        context.warn("the last line of its output is not JSON")
        return None
