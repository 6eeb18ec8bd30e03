"""One attempt: runs the handler under its time limit, and says how it ended."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

from windlass.core import outcome
from windlass.core.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.lease import Finish, Lease
from windlass.core.outcome import Failure
from windlass.core.payload import dump_json, encode_result, load_json
from windlass.core.redact import Redactor
from windlass.core.states import Outcome
from windlass.engine.leases import ERROR_BYTES
from windlass.errors import Permanent, Stopped, WindlassError
from windlass.worker.command import END_SECONDS, Account
from windlass.worker.context import CURRENT, Ending, JobContext, Level, Snoozed, StopReason
from windlass.worker.deadlines import Deadlines
from windlass.worker.handlers import Handler
from windlass.worker.process import ChildFailed, Children
from windlass.worker.reports import Reports
from windlass.worker.threads import Threads

#: How long a run that was told to stop may take before its slot is written off.
GRACE_SECONDS = 5.0

_UNCOMMITTED = Failure(
    error="ctx.complete was called, but its transaction was not committed",
    error_type="NotCommitted",
)

Around = Callable[[JobContext], AbstractAsyncContextManager[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the attempts of one worker share."""

    sink: Reports
    threads: Threads
    children: Children
    around: Sequence[Around]
    random: Random
    redactor: Redactor
    on_end: Callable[["LiveAttempt", Finish | None], None]
    deadlines: "Deadlines[LiveAttempt]" = field(
        default_factory=lambda: Deadlines(lambda run: run.stop("timed_out"))
    )


class AttemptSink:
    """The sink of one attempt: hides the secrets of its payload in what the run tells.

    It does not refer to the attempt: a circle per job would be work for the garbage collector.
    """

    __slots__ = ("_handler", "_known", "_lease", "_tools")

    def __init__(self, lease: Lease, handler: Handler, tools: Tools) -> None:
        self._lease = lease
        self._handler = handler
        self._tools = tools
        self._known: KnownSecrets | None = None

    def log(self, lease: Lease, level: Level, message: str, fields: Mapping[str, Any]) -> None:
        self._tools.sink.log(lease, level, message, fields, self.secrets)

    def progress(self, lease: Lease, fraction: float, note: str | None) -> None:
        secrets = NO_SECRETS if note is None else self.secrets
        self._tools.sink.progress(lease, fraction, note, secrets)

    def complete(
        self, lease: Lease, tx: object, result: object, warnings: Iterable[str]
    ) -> Ending | None:
        return self._tools.sink.complete(lease, tx, result, warnings)

    @property
    def secrets(self) -> KnownSecrets:
        """The secret values of the payload, looked for when something is first told of the run."""
        if self._known is None:
            try:
                payload = load_json(self._lease.payload)
                schema = self._handler.payload.schema
                self._known = KnownSecrets(self._tools.redactor.secrets_in(payload, schema))
            except WindlassError:  # unreadable: the handler got nothing of it either
                self._known = NO_SECRETS
        return self._known


class LiveAttempt:
    """An attempt under way. It ends once: by itself, or written off after ignoring a stop."""

    __slots__ = (
        "_account", "_handler", "_patience", "_reason", "_sink", "_task", "_tools",
        "began_at", "context", "ended", "ended_at", "held", "late", "lease", "stuck",
    )  # fmt: skip

    def __init__(self, lease: Lease, handler: Handler, tools: Tools, began_at: float = 0.0) -> None:
        self.lease = lease
        self.began_at = self.ended_at = began_at  # by this machine's monotonic clock
        self.held = lease.held
        self._sink = AttemptSink(lease, handler, tools)
        self.context = JobContext(lease, self._sink)
        self.ended = self.late = self.stuck = False
        self._handler = handler
        self._tools = tools
        self._reason: StopReason | None = None
        self._task: asyncio.Task[None] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._account: Account | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def stop(self, reason: StopReason) -> None:
        """Tell the run to stop. The first reason stays, but a lost lease overrules all."""
        if self.ended or self._task is None:
            return
        if self._reason is None and not self._in_thread:
            self._task.cancel()
        if self._reason is None or reason == "lost":
            self._reason = reason
            self.context.ask_to_stop(reason)
        # A cancel alone lets a thread take its time; its time limit or a shutdown does not.
        if self._patience is None and not (self._in_thread and reason == "canceled"):
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(self.patience, self._write_off)

    @property
    def lost(self) -> bool:
        """Whether the run was told that its lease is gone."""
        return self._reason == "lost"

    @property
    def patience(self) -> float:
        """How many seconds it may take to stop before its slot is written off."""
        command = self._handler.command
        own = 0.0 if command is None else command.grace_seconds + END_SECONDS + 0.5
        return max(GRACE_SECONDS, own)

    @property
    def time_limit(self) -> float:
        return self.lease.timeout_seconds or self._handler.timeout.total_seconds()

    @property
    def _in_thread(self) -> bool:
        return not self._handler.is_async and self._handler.definition.isolation == "thread"

    async def _run(self) -> None:
        CURRENT.set(self.lease)
        self._tools.deadlines.add(self, self.time_limit)
        try:
            finish = self._returned(await self._call())
        except BaseException as error:  # noqa: BLE001  whatever a handler raises is its outcome
            finish = self._raised(error)
        self._end(finish)

    async def _call(self) -> Any:
        handler = self._handler
        arguments = handler.arguments(self.lease)
        if context_name := handler.payload.signature.context:
            arguments[context_name] = self.context
        if handler.own or not self._tools.around:
            return await self._invoke(arguments)
        async with AsyncExitStack() as stack:
            for around in self._tools.around:
                await stack.enter_async_context(around(self.context))
            return await self._invoke(arguments)

    def _invoke(self, arguments: dict[str, Any]) -> Awaitable[Any]:
        handler, tools = self._handler, self._tools
        if handler.command is not None:
            self._account = Account()
            return handler.command.run(
                self.lease,
                arguments,
                self.context,
                self._account,
                tools.redactor,
                self._sink.secrets,
            )
        if handler.in_child:
            return tools.children.run(handler, self.lease, self._sink, self.context)
        if handler.is_async:
            call: Awaitable[Any] = handler.call(**arguments)
            return call
        return tools.threads.run(partial(handler.call, **arguments))

    def _returned(self, value: Any) -> Finish | None:
        if self._reason == "lost":
            return None
        if self.context.completed:
            return self._failed(_UNCOMMITTED)
        if self._reason == "timed_out":
            return self._failed(self._timed_out())
        result, note = (None, None) if value is None else encode_result(value)
        warnings = [*self.context.warnings, note] if note else self.context.warnings
        return outcome.success(
            self.held,
            result=result,
            warnings=dump_json(warnings) if warnings else None,
            keep=self._handler.keep,
        )

    def _raised(self, error: BaseException) -> Finish | None:
        stopping = isinstance(error, asyncio.CancelledError | Stopped | ChildFailed)
        match self._reason:
            case "lost":
                return None
            case "timed_out":
                return self._failed(self._timed_out(error))
            case "canceled" if stopping:
                return outcome.stopped(self.held, keep=self._handler.keep)
            case "shutdown" if stopping:
                return outcome.released(self.held)
        if isinstance(error, Snoozed):
            return outcome.released(self.held, delay=error.delay)
        return self._failed(self._failure(error))

    def _failed(self, failure: Failure) -> Finish:
        failure = self._without_secrets(failure)
        verdict = outcome.judge(
            failure,
            attempts=self.lease.attempts,
            max_attempts=self.lease.max_attempts,
            backoff=self._handler.backoff,
            random=self._tools.random,
        )
        return outcome.failed(self.held, failure, verdict)

    def _timed_out(self, error: BaseException | None = None) -> Failure:
        return Failure(
            error=f"Job exceeded timeout of {round(self.time_limit, 3):.10g}s",
            error_type="TimedOut",
            # Of a command it would show our own code, and its output tells more.
            trace=trace_of(error) if error and self._handler.command is None else None,
            outcome=Outcome.TIMED_OUT,
        )

    def _failure(self, error: BaseException) -> Failure:
        if isinstance(error, ChildFailed):
            return error.failure
        permanent = isinstance(error, (Permanent, *self._handler.permanent))
        return failure_of(error, permanent=permanent)

    def _without_secrets(self, failure: Failure) -> Failure:
        hide = partial(
            self._tools.redactor.redact_part, limit=ERROR_BYTES, secrets=self._sink.secrets
        )
        trace = None if failure.trace is None else hide(failure.trace)
        return replace(failure, error=hide(failure.error), trace=trace)

    def _write_off(self) -> None:
        """The run does not stop: record its end without it, and give up its slot."""
        if not self.ended:
            self.stuck = True
            self._end(self._raised(Stopped(self._reason or "lost")))

    def _end(self, finish: Finish | None) -> None:
        self._tools.deadlines.drop(self, self.time_limit)
        if self._patience is not None:
            self._patience.cancel()
        self.late = self.ended  # written off before: its end is recorded already
        self.ended = True
        if finish is not None and self.context.completed:
            # Its own transaction has recorded the end, unless it was never committed.
            finish = finish._replace(perhaps_ended=True)
        if finish is not None and self._account is not None:
            finish = finish._replace(**self._account.told)
        self._tools.on_end(self, None if self.late else finish)


def failure_of(error: BaseException, *, permanent: bool) -> Failure:
    """A failure in words: message, class and traceback."""
    kind = type(error)
    own = kind.__module__ == "builtins"
    return Failure(
        error=_said(error) or kind.__name__,
        error_type=kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}",
        trace=trace_of(error),
        permanent=permanent,
    )


def trace_of(error: BaseException) -> str:
    """The traceback from the handler on; the worker's own frames say nothing to its author."""
    frames = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_globals.get("__name__")):
        frames = frames.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception:  # noqa: BLE001  an exception's own methods may raise anything
        return "".join(traceback.format_tb(frames))


def _is_ours(module: object) -> bool:
    return str(module).partition(".")[0] == "windlass"


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  as above
        return f"{type(error).__name__}, whose text cannot be had"
