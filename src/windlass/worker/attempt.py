"""One attempt: runs the handler under its time limit, and says how it ended."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from windlass import clock
from windlass.core.jobs import outcome
from windlass.core.jobs.outcome import Failure
from windlass.core.jobs.states import Outcome
from windlass.core.leases.lease import AttemptEnd, Lease
from windlass.core.payloads.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.payloads.payload import dump_json, load_json
from windlass.core.payloads.redact import Redactor
from windlass.core.text import clean, type_name
from windlass.engine.leases.leases import ERROR_BYTES
from windlass.errors import Stopped, WindlassError
from windlass.tasks import start_task
from windlass.worker.context import (
    CURRENT_LEASE,
    JobContext,
    LogLevel,
    Snoozed,
    StopReason,
    TransactionalCompletion,
)
from windlass.worker.handlers import Handler
from windlass.worker.isolation.command import END_SECONDS, ProcessRecord
from windlass.worker.isolation.process import KILL_SECONDS, ProcessRunFailed, ProcessRunner
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.reporting.error_text import (
    PERMANENT,
    failure_from_error,
    format_error_traceback,
    safe_isinstance,
)
from windlass.worker.reporting.log_writer import LogWriter
from windlass.worker.time_limits import TimeLimits

#: How long a run that was told to stop may take before its slot is written off.
GRACE_SECONDS = 5.0

#: Room for the words in place of what is left out of an error.
_MARK_BYTES = 64
_UNCOMMITTED = Failure(
    error="ctx.complete was called, but its transaction was not committed",
    error_type="NotCommitted",
)

Around = Callable[[JobContext], AbstractAsyncContextManager[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResources:
    """What the attempts of one worker share."""

    sink: LogWriter
    threads: ThreadPool
    children: ProcessRunner
    around: Sequence[Around]
    random: Random
    redactor: Redactor
    error_bytes: int = ERROR_BYTES
    on_end: Callable[["LiveAttempt", AttemptEnd | None], None]
    deadlines: "TimeLimits[LiveAttempt]" = field(
        default_factory=lambda: TimeLimits(lambda run: run.stop("timed_out"))
    )


class AttemptSink:
    """The sink of one attempt: hides the secrets of its payload in what the run tells.

    It does not refer to the attempt: a circle per job would be work for the garbage collector.
    """

    __slots__ = ("_handler", "_known", "_lease", "_resources")

    def __init__(self, lease: Lease, handler: Handler, tools: AttemptResources) -> None:
        self._lease = lease
        self._handler = handler
        self._resources = tools
        self._known: KnownSecrets | None = None

    def log(self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        self._resources.sink.log(lease, level, message, fields, self.secrets)

    def progress(self, lease: Lease, fraction: float, note: str | None) -> None:
        secrets = NO_SECRETS if note is None else self.secrets
        self._resources.sink.progress(lease, fraction, note, secrets)

    def once(self, lease: Lease, key: str) -> Coroutine[Any, Any, bool]:
        return self._resources.sink.is_done(lease, key)

    def wait_for(self, asked: Coroutine[Any, Any, bool]) -> bool:
        return self._resources.sink.wait_for(asked)

    def complete(
        self,
        lease: Lease,
        tx: object,
        result: object,
        warnings: Iterable[str],
        once: Sequence[str],
    ) -> TransactionalCompletion | None:
        encode = self._handler.encode_result_text
        return self._resources.sink.complete(lease, tx, result, warnings, encode, once)

    @property
    def secrets(self) -> KnownSecrets:
        """The secret values of the payload, looked for when something is first told of the run."""
        if self._known is None:
            try:
                payload = load_json(self._lease.payload)
                schema = self._handler.payload.schema
                self._known = KnownSecrets(self._resources.redactor.secrets_in(payload, schema))
            except WindlassError:  # unreadable: the handler got nothing of it either
                self._known = NO_SECRETS
        return self._known


class LiveAttempt:
    """An attempt under way. It ends once: by itself, or written off after ignoring a stop."""

    __slots__ = (
        "_handler",
        "_process_record",
        "_reason",
        "_resources",
        "_sink",
        "_stop_timer",
        "_task",
        "began_at",
        "context",
        "ended",
        "ended_at",
        "held",
        "late",
        "lease",
        "lease_ends_at",
        "stuck",
    )  # fmt: skip

    def __init__(
        self,
        lease: Lease,
        handler: Handler,
        tools: AttemptResources,
        lease_ends_at: float = math.inf,
    ) -> None:
        self.lease = lease
        self.began_at = self.ended_at = 0.0  # by this machine's monotonic clock
        #: By its boot-time clock: the database may think that there is more time, never less.
        self.lease_ends_at = lease_ends_at
        self.held = lease.held
        self._sink = AttemptSink(lease, handler, tools)
        self.context = JobContext(lease, self._sink)
        self.ended = self.late = self.stuck = False
        self._handler = handler
        self._resources = tools
        self._reason: StopReason | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        self._process_record: ProcessRecord | None = None

    def start(self) -> None:
        self._task = start_task(self._run())

    @property
    def started(self) -> bool:
        return self._task is not None

    def stop(self, reason: StopReason) -> None:
        """Tell the run to stop. The first reason stays, but a lost lease overrules all."""
        if self.ended:
            return
        if self._task is None:
            self._finish_unstarted(reason)
            return
        if self._reason is None and not self._in_thread:
            self._task.cancel()
        if self._reason is None or reason == "lost":
            self._reason = reason
            self.context.request_stop(reason)
        # A cancel alone lets a thread take its time; its time limit or a shutdown does not.
        if self._stop_timer is None and not (self._in_thread and reason == "canceled"):
            loop = asyncio.get_running_loop()
            self._stop_timer = loop.call_later(self.stop_timeout, self._abandon)

    @property
    def task(self) -> "asyncio.Task[None] | None":
        """What runs it in the event loop; None before it was started."""
        return self._task

    @property
    def runs_in_event_loop(self) -> bool:
        """Whether the handler's own code runs in the event loop."""
        handler = self._handler
        return handler.is_async and handler.command is None and not handler.is_process_isolated

    @property
    def runs_in_own_process(self) -> bool:
        """Whether it runs in processes of its own."""
        return self._handler.command is not None or self._handler.is_process_isolated

    @property
    def lost(self) -> bool:
        """Whether the run was told that its lease is gone."""
        return self._reason == "lost"

    @property
    def stop_timeout(self) -> float:
        """How many seconds it may take to stop before its slot is written off."""
        command = self._handler.command
        if command is not None:
            own = command.grace_seconds + END_SECONDS + 0.5
        else:
            own = self._handler.grace_seconds + KILL_SECONDS + 0.5
        return max(GRACE_SECONDS, own)

    @property
    def time_limit(self) -> float:
        return self.lease.timeout_seconds or self._handler.timeout.total_seconds()

    @property
    def _in_thread(self) -> bool:
        return not self._handler.is_async and self._handler.definition.isolation == "thread"

    async def _run(self) -> None:
        if self._lease_expired:
            self._end(outcome.released(self.held))
            return
        CURRENT_LEASE.set(self.lease)
        self.began_at = clock.monotonic()
        self._resources.deadlines.add(self, self.time_limit)
        try:
            finish = self._finish_from_result(await self._call())
        except BaseException as error:  # noqa: BLE001  whatever a handler raises is its outcome
            finish = self._finish_after_error(error)
        self._end(finish)

    async def _call(self) -> Any:
        handler = self._handler
        arguments = handler.arguments(self.lease)
        if context_name := handler.payload.signature.context:
            arguments[context_name] = self.context
        if handler.own or not self._resources.around:
            return await self._invoke(arguments)
        async with AsyncExitStack() as stack:
            for around in self._resources.around:
                await stack.enter_async_context(around(self.context))
            return await self._invoke(arguments)

    def _invoke(self, arguments: dict[str, Any]) -> Awaitable[Any]:
        handler, tools = self._handler, self._resources
        if handler.command is not None:
            self._process_record = ProcessRecord()
            return handler.command.run(
                self.lease,
                arguments,
                self.context,
                self._process_record,
                tools.redactor,
                self._sink.secrets,
            )
        if handler.is_process_isolated:
            return tools.children.run(handler, self.lease, self._sink, self.context)
        if handler.is_async:
            call: Awaitable[Any] = handler.call(**arguments)
            return call
        return tools.threads.run(partial(self._call_in_thread, partial(handler.call, **arguments)))

    def _call_in_thread(self, call: Callable[[], Any]) -> Any:
        if self._lease_expired:
            raise Snoozed(timedelta())
        return call()

    @property
    def _lease_expired(self) -> bool:
        """Whether the lease has run out by our own clock: the worker stood still, and the job may
        be another's by now. Not started, its attempt is given back."""
        return clock.boottime() >= self.lease_ends_at

    def _finish_from_result(self, value: Any) -> AttemptEnd | None:
        if self._reason == "lost":
            return None
        if self.context.completed:
            return self._failed(_UNCOMMITTED)
        if self._reason == "timed_out":
            return self._failed(self._timed_out())
        result, note = self._handler.encode_result_text(value)
        warnings = [*self.context.warnings, note] if note else self.context.warnings
        return outcome.success(
            self.held,
            result=result,
            warnings=dump_json(warnings) if warnings else None,
            keep=self._handler.keep,
        )._replace(once=tuple(self.context.done))

    def _finish_from_error(self, error: BaseException) -> AttemptEnd | None:
        stopping = safe_isinstance(error, asyncio.CancelledError, Stopped, ProcessRunFailed)
        match self._reason:
            case "lost":
                return None
            case "timed_out":
                return self._failed(self._timed_out(error))
            case "canceled" if stopping:
                return outcome.stopped(self.held, keep=self._handler.keep)
            case "shutdown" if stopping:
                return outcome.released(self.held)
        if type(error) is Snoozed:
            return outcome.released(self.held, delay=error.delay)
        return self._failed(self._failure(error))

    def _finish_after_error(self, error: BaseException) -> AttemptEnd | None:
        try:
            return self._finish_from_error(error)
        except BaseException as ours:  # noqa: BLE001  without an end the slot would be lost
            unclear = f"how the attempt ended could not be told ({type_name(ours)})"
            failure = Failure(error=unclear, error_type=type_name(error))
            attempts, most = self.lease.attempts, self.lease.max_attempts
            again = attempts < most
            verdict = outcome.Retry(timedelta(minutes=1)) if again else outcome.DeadLetter()
            return outcome.failed(self.held, failure, verdict)

    def _failed(self, failure: Failure) -> AttemptEnd:
        failure = self._without_secrets(failure)
        verdict = outcome.judge(
            failure,
            attempts=self.lease.attempts,
            max_attempts=self.lease.max_attempts,
            backoff=self._handler.backoff,
            random=self._resources.random,
        )
        return outcome.failed(self.held, failure, verdict)

    def timeout_outcome(self, stack: str) -> AttemptEnd | None:
        """The end of a run past its time limit that blocks the event loop, said by another thread.
        None if it has lost its lease."""
        if self.lost:
            return None
        failure = self._timed_out()
        said = f"{failure.error}: its async handler blocked the worker's event loop"
        return self._failed(replace(failure, error=said, trace=stack))._replace(
            maybe_recorded=self.context.completed
        )

    def _timed_out(self, error: BaseException | None = None) -> Failure:
        return Failure(
            error=f"Job exceeded timeout of {round(self.time_limit, 3):.10g}s",
            error_type="TimedOut",
            # Of a command it would show our own code, and its output tells more.
            trace=format_error_traceback(error)
            if error and self._handler.command is None
            else None,
            outcome=Outcome.TIMED_OUT,
        )

    def _failure(self, error: BaseException) -> Failure:
        if type(error) is ProcessRunFailed:
            return error.failure
        permanent = safe_isinstance(error, *PERMANENT, *self._handler.permanent)
        return failure_from_error(error, permanent=permanent)

    def _without_secrets(self, failure: Failure) -> Failure:
        limit, redactor = self._resources.error_bytes, self._resources.redactor

        def hide(text: str) -> str:
            return clean(redactor.redact_part(text, limit - _MARK_BYTES, self._sink.secrets), limit)

        trace = None if failure.trace is None else hide(failure.trace)
        return replace(failure, error=hide(failure.error), trace=trace)

    def _finish_unstarted(self, reason: StopReason) -> None:
        self._reason = reason
        match reason:
            case "lost":
                self._end(None)
            case "canceled":
                self._end(outcome.stopped(self.held, keep=self._handler.keep))
            case _:
                self._end(outcome.released(self.held))

    def _abandon(self) -> None:
        """The run does not stop: record its end without it, and give up its slot."""
        if not self.ended:
            self.stuck = True
            self._end(self._finish_from_error(Stopped(self._reason or "lost")))

    def _end(self, finish: AttemptEnd | None) -> None:
        self._resources.deadlines.drop(self, self.time_limit)
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        self.late = self.ended  # written off before: its end is recorded already
        self.ended = True
        if finish is not None and self.context.completed:
            # Its own transaction has recorded the end, unless it was never committed.
            finish = finish._replace(maybe_recorded=True)
        if finish is not None and self._process_record is not None:
            finish = finish._replace(**self._process_record.outcome_fields)
        self._resources.on_end(self, None if self.late else finish)
