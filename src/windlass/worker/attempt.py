"""One attempt: runs the handler under its time limit and works out its outcome."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from windlass import clock
from windlass.core.jobs import outcome
from windlass.core.jobs.outcome import AttemptEnd, Failure
from windlass.core.jobs.states import Outcome
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.core.payloads.json_text import dump_json
from windlass.core.payloads.redact import Redactor
from windlass.core.text import clean, type_name
from windlass.engine.leases.leases import ERROR_BYTES
from windlass.errors import Stopped
from windlass.tasks import start_task
from windlass.worker.context import CURRENT_LEASE, JobContext, StopReason
from windlass.worker.handlers import Handler
from windlass.worker.isolation.command import END_SECONDS, ProcessRecord
from windlass.worker.isolation.process import KILL_SECONDS, ProcessRunFailed, ProcessRunner
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.reporting.error_text import (
    failure_from_error,
    format_error_traceback,
    safe_isinstance,
)
from windlass.worker.reporting.log_writer import AttemptSink, LogWriter
from windlass.worker.retrying import Snooze
from windlass.worker.slots import TimeLimits

#: How long a run that was stopped may take before its slot is written off.
GRACE_SECONDS = 5.0

#: Room for the mark that replaces the part of an error that is left out.
_MARK_BYTES = 64
_UNCOMMITTED = Failure(
    error="ctx.complete was called, but its transaction was not committed",
    error_type="NotCommitted",
)

Around = Callable[[JobContext], AbstractAsyncContextManager[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResources:
    """The parts of a worker that its attempts share."""

    sink: LogWriter
    threads: ThreadPool
    children: ProcessRunner
    around: Sequence[Around]
    random: Random
    redactor: Redactor
    error_bytes: int = ERROR_BYTES
    on_end: Callable[["LiveAttempt", AttemptEnd | None], None]
    time_limits: "TimeLimits[LiveAttempt]" = field(
        default_factory=lambda: TimeLimits(lambda run: run.stop("timed_out"))
    )


class LiveAttempt:
    """An attempt under way. It ends once: by itself, or written off after ignoring a stop."""

    __slots__ = (
        "_context",
        "_handler",
        "_process_record",
        "_reason",
        "_resources",
        "_stop_timer",
        "_task",
        "began_at",
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
        resources: AttemptResources,
        lease_ends_at: float = math.inf,
    ) -> None:
        self.lease = lease
        self.began_at = self.ended_at = 0.0  # by this machine's monotonic clock
        #: By its boot-time clock: the database may think that there is more time, never less.
        self.lease_ends_at = lease_ends_at
        self.held = LeaseRef(lease.job_id, lease.token)
        #: `stuck`: written off while it still runs. `late`: it has ended after that.
        self.ended = self.late = self.stuck = False
        self._handler = handler
        self._resources = resources
        self._context: JobContext | None = None
        self._reason: StopReason | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        self._process_record: ProcessRecord | None = None

    def start(self) -> None:
        self._task = start_task(self._run())

    def stop(self, reason: StopReason) -> None:
        """Stop the run. The first reason stays, but a lost lease overrules all."""
        if self.ended:
            return
        if self._task is None:
            self._end_unstarted(reason)
            return
        if self._reason is None and not self._in_thread:
            self._task.cancel()
        if self._reason is None or reason == "lost":
            self._reason = reason
            if self._context is not None:
                self._context.request_stop(reason)
        # A cancel alone lets a thread take its time; its time limit or a shutdown does not.
        if self._stop_timer is None and not (self._in_thread and reason == "canceled"):
            loop = asyncio.get_running_loop()
            self._stop_timer = loop.call_later(self.stop_timeout, self._write_off)

    def timeout_outcome(self, stack: str) -> AttemptEnd | None:
        """The outcome of a run that blocks the event loop past its time limit; None if it has lost
        its lease. Called from another thread."""
        if self.lost:
            return None
        failure = self._timed_out()
        blocked = f"{failure.error}: its async handler blocked the worker's event loop"
        return self._failed(replace(failure, error=blocked, trace=stack))._replace(
            maybe_recorded=self.completed
        )

    @property
    def context(self) -> JobContext:
        """The context of the run, made when something first asks for it in the event loop: most
        handlers do without."""
        if self._context is None:
            self._context = JobContext(self.lease, self.create_sink())
            if self._reason is not None:
                self._context.request_stop(self._reason)
        return self._context

    def create_sink(self) -> AttemptSink:
        """A sink that hides the secrets of this job's payload."""
        resources = self._resources
        return AttemptSink(self.lease, self._handler, resources.sink, resources.redactor)

    @property
    def completed(self) -> bool:
        """True if the handler completes the job in a transaction of its own. Safe to read from any
        thread."""
        return self._context is not None and self._context.completed

    @property
    def started(self) -> bool:
        return self._task is not None

    @property
    def lost(self) -> bool:
        """True if the run was stopped because its lease is gone."""
        return self._reason == "lost"

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return self.ended_at - self.began_at

    @property
    def task(self) -> "asyncio.Task[None] | None":
        """The task that runs it in the event loop; None before it was started."""
        return self._task

    @property
    def runs_in_event_loop(self) -> bool:
        """True if the handler's own code runs in the event loop."""
        return self._handler.is_async and not self.runs_in_own_process

    @property
    def runs_in_own_process(self) -> bool:
        """True for a command and for a process-isolated handler."""
        return self._handler.command is not None or self._handler.is_process_isolated

    @property
    def time_limit(self) -> float:
        """How many seconds the run may take."""
        return self.lease.timeout_seconds or self._handler.timeout.total_seconds()

    @property
    def stop_timeout(self) -> float:
        """How many seconds it may take to stop before its slot is written off."""
        command = self._handler.command
        if command is not None:
            own = command.grace_seconds + END_SECONDS + 0.5
        else:
            own = self._handler.grace_seconds + KILL_SECONDS + 0.5
        return max(GRACE_SECONDS, own)

    async def _run(self) -> None:
        if self._lease_expired:
            self._end(outcome.released(self.held))
            return
        CURRENT_LEASE.set(self.lease)
        self.began_at = clock.monotonic()
        self._resources.time_limits.add(self, self.time_limit)
        try:
            finish = self._outcome_of_result(await self._call_handler())
        except BaseException as error:  # noqa: BLE001  whatever a handler raises is its outcome
            finish = self._outcome_of_error(error)
        self._end(finish)

    async def _call_handler(self) -> Any:
        """Call the handler inside the app's `around` hooks."""
        handler = self._handler
        arguments = handler.arguments(self.lease)
        if context_name := handler.payload.signature.context:
            arguments[context_name] = self.context
        if handler.is_builtin or not self._resources.around:
            return await self._call_isolated(arguments)
        async with AsyncExitStack() as stack:
            for around in self._resources.around:
                await stack.enter_async_context(around(self.context))
            return await self._call_isolated(arguments)

    def _call_isolated(self, arguments: dict[str, Any]) -> Awaitable[Any]:
        """Call the handler in the event loop, a thread or a process, or run its command."""
        handler, resources = self._handler, self._resources
        if handler.command is not None:
            self._process_record = ProcessRecord()
            return handler.command.run(
                self.lease,
                arguments,
                self.context,
                self._process_record,
                resources.redactor,
                self.create_sink().secrets,
            )
        if handler.is_process_isolated:
            return resources.children.run(handler, self.lease, self.create_sink(), self.context)
        if handler.is_async:
            call: Awaitable[Any] = handler.call(**arguments)
            return call
        blocking = partial(handler.call, **arguments)
        return resources.threads.run(partial(self._call_in_thread, blocking))

    def _call_in_thread(self, call: Callable[[], Any]) -> Any:
        if self._lease_expired:
            raise Snooze(0)
        return call()

    @property
    def _in_thread(self) -> bool:
        return not self._handler.is_async and self._handler.definition.isolation == "thread"

    @property
    def _lease_expired(self) -> bool:
        """True if the lease has run out by this machine's clock: the worker stood still, and
        another may have the job by now. It is not started, and its attempt is not counted."""
        return clock.boottime() >= self.lease_ends_at

    def _outcome_of_result(self, value: Any) -> AttemptEnd | None:
        if self._reason == "lost":
            return None
        if self.completed:
            return self._failed(_UNCOMMITTED)
        if self._reason == "timed_out":
            return self._failed(self._timed_out())
        result, note = self._handler.encode_result_text(value)
        warnings = [note] if note else []
        once: tuple[str, ...] = ()
        if self._context is not None:
            warnings = [*self._context.warnings, *warnings]
            once = tuple(self._context.done)
        return outcome.success(
            self.held,
            result=result,
            warnings=dump_json(warnings) if warnings else None,
            keep=self._handler.keeps_history,
            once=once,
        )

    def _outcome_of_error(self, error: BaseException) -> AttemptEnd | None:
        try:
            return self._judge_error(error)
        except BaseException as ours:  # noqa: BLE001  without an end the slot would be lost
            unclear = f"the attempt's outcome is unknown ({type_name(ours)})"
            failure = Failure(error=unclear, error_type=type_name(error))
            may_retry = self.lease.attempts < self.lease.max_attempts
            verdict = (
                outcome.RetryAfter(timedelta(minutes=1)) if may_retry else outcome.DeadLetter()
            )
            return outcome.failed(self.held, failure, verdict)

    def _judge_error(self, error: BaseException) -> AttemptEnd | None:
        stopping = safe_isinstance(error, asyncio.CancelledError, Stopped, ProcessRunFailed)
        match self._reason:
            case "lost":
                return None
            case "timed_out":
                return self._failed(self._timed_out(error))
            case "canceled" if stopping:
                return outcome.stopped(self.held, keep=self._handler.keeps_history)
            case "shutdown" if stopping:
                return outcome.released(self.held)
        if isinstance(error, Snooze):
            return outcome.released(self.held, delay=error.delay)
        if type(error) is ProcessRunFailed:
            return self._failed(error.failure)
        return self._failed(failure_from_error(error, self._handler))

    def _timed_out(self, error: BaseException | None = None) -> Failure:
        trace = None
        # Of a command the traceback would show our own code, and its output says more.
        if error is not None and self._handler.command is None:
            trace = format_error_traceback(error)
        return Failure(
            error=f"Job exceeded timeout of {round(self.time_limit, 3):.10g}s",
            error_type="TimedOut",
            trace=trace,
            outcome=Outcome.TIMED_OUT,
        )

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

    def _without_secrets(self, failure: Failure) -> Failure:
        limit, redactor = self._resources.error_bytes, self._resources.redactor
        secrets = self.create_sink().secrets

        def hide(text: str) -> str:
            return clean(redactor.redact_part(text, limit - _MARK_BYTES, secrets), limit)

        trace = None if failure.trace is None else hide(failure.trace)
        return replace(failure, error=hide(failure.error), trace=trace)

    def _end_unstarted(self, reason: StopReason) -> None:
        self._reason = reason
        match reason:
            case "lost":
                self._end(None)
            case "canceled":
                self._end(outcome.stopped(self.held, keep=self._handler.keeps_history))
            case _:
                self._end(outcome.released(self.held))

    def _write_off(self) -> None:
        """Record the outcome of a run that does not stop, without waiting for it."""
        if not self.ended:
            self.stuck = True
            self._end(self._judge_error(Stopped(self._reason or "lost")))

    def _end(self, finish: AttemptEnd | None) -> None:
        self._resources.time_limits.drop(self, self.time_limit)
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        self.late = self.ended  # written off before: its end is recorded already
        self.ended = True
        if finish is not None and self.completed:
            # Its own transaction has recorded the end, unless it was never committed.
            finish = finish._replace(maybe_recorded=True)
        if finish is not None and self._process_record is not None:
            finish = finish._replace(**self._process_record.outcome_fields)
        self._resources.on_end(self, None if self.late else finish)
