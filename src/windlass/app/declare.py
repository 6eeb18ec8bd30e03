"""Creates handlers for functions declared by `@wl.job(...)`."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from windlass.core.definitions.backoff import Backoff
from windlass.core.definitions.callables import check_callable
from windlass.core.definitions.definition import Definition, Isolation
from windlass.core.definitions.foreign_names import DEFINITION_OPTIONS
from windlass.core.definitions.options import (
    ALLOWED,
    LEAST_MEMORY_MB,
    MOST_MEMORY_MB,
    RUNNING,
    edits,
    is_payload_path,
    whole_number_rule,
    word_rule,
)
from windlass.core.definitions.signature import read_signature
from windlass.core.durations import duration
from windlass.core.jobs.dedupe import check_name
from windlass.core.jobs.models import DEFAULT_QUEUE, OnDuplicate, ParentFailure
from windlass.core.leases.gates import check_key
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.payload import PayloadModel
from windlass.core.triggers.declared_trigger import DeclaredTrigger, time_trigger
from windlass.core.triggers.trigger import Misfire, Overlap
from windlass.engine.engine import Engine
from windlass.engine.leases.default_backoff import default_backoff
from windlass.errors import DefinitionInvalid, ScheduleInvalid
from windlass.errors.wording import nearest
from windlass.ids import DefinitionKey, QueueName
from windlass.settings import Settings
from windlass.worker.context import JobContext
from windlass.worker.handlers import Handler

if TYPE_CHECKING:
    from windlass.core.triggers.schedule import Schedule

_LONGEST_GRACE = 300


class HasKey(Protocol):
    """A declared job, which has its definition's key."""

    @property
    def key(self) -> str: ...


class JobOptions(TypedDict, total=False):
    """Options of `@wl.job(...)`, besides the key."""

    title: str
    description: str
    queue: str
    priority: int | str
    max_attempts: int
    backoff: Backoff
    timeout: str | timedelta | float
    isolation: Isolation
    grace: str | timedelta | float
    memory_limit_mb: int
    max_concurrency: int
    rate_limit: str
    key: str
    max_per_key: int
    rate_per_key: str
    permanent: Sequence[type[BaseException]]
    retry_on: Sequence[type[BaseException]]
    default_payload: Mapping[str, Any]
    schedule: "Schedule | str | Sequence[Schedule | str]"
    misfire: Misfire
    overlap: Overlap
    after: "Sequence[str | HasKey]"
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    runbook_url: str
    enabled: bool
    version: int
    truncate_result: bool
    system: bool
    idempotent: bool
    requires_permission: str
    dedupe: Literal["payload"]
    dedupe_window: str | timedelta | float
    on_duplicate: OnDuplicate
    on_parent_failure: ParentFailure
    on_dead_letter: str | HasKey
    retention_days: float | Literal["forever"]
    log_retention_days: float | Literal["forever"]
    retention_count: int


_NAMES = frozenset(JobOptions.__annotations__)


def declare(
    function: Callable[..., Any], key: str | None, options: JobOptions, settings: Settings
) -> Handler:
    """Create the handler of a function. Defaults come from the settings; mistakes raise at once."""
    check_callable(function, key, isolation=options.get("isolation", "thread"))
    name = check_key(getattr(function, "__name__", "") if key is None else key)
    _check(name, function, options)
    own_backoff = options.get("backoff")
    timeout = duration(options.get("timeout", settings.timeout_seconds), option="timeout")
    window, hook = options.get("dedupe_window"), options.get("on_dead_letter")
    definition = Definition(
        key=DefinitionKey(name),
        title=options.get("title", name),
        description=options.get("description") or inspect.getdoc(function) or "",
        handler=f"{function.__module__}:{getattr(function, '__qualname__', name)}",
        queue=QueueName(check_name("queue", options.get("queue", DEFAULT_QUEUE))),
        isolation=options.get("isolation", "thread"),
        memory_limit_mb=options.get("memory_limit_mb"),
        limit_key=_limit_key(name, function, options),
        version=options.get("version", 1),
        default_payload=dump_json(dict(options.get("default_payload", {}))),
        system=options.get("system", False),
        idempotent=options.get("idempotent", False),
        requires_permission=options.get("requires_permission"),
        dedupe=options.get("dedupe"),
        dedupe_window_seconds=(
            None if window is None else duration(window, option="dedupe_window").total_seconds()
        ),
        on_duplicate=options.get("on_duplicate", "existing"),
        on_parent_failure=options.get("on_parent_failure", "cancel"),
        on_dead_letter=None if hook is None else _key("on_dead_letter", hook),
        runs_after=tuple(dict.fromkeys(_key("after", each) for each in options.get("after", ()))),
        **_running(options, settings, timeout),
    )
    return Handler(
        definition=definition,
        call=function,
        payload=PayloadModel(
            function,
            definition=name,
            context_type=JobContext,
            limit=settings.limits.payload_bytes,
        ),
        is_async=_is_async(function),
        backoff=own_backoff or default_backoff(settings),
        timeout=timeout,
        permanent=tuple(options.get("permanent", ())),
        retry_on=tuple(options.get("retry_on", ())),
        import_location=_where(name, function, definition.isolation),
        result_bytes=settings.limits.result_bytes,
        truncate_result=options.get("truncate_result", False),
        grace_seconds=grace_seconds(name, options, usual="1s"),
        triggers=_by_time(name, options),
    )


def declare_in(engine: Engine, handler: Handler) -> None:
    """Register a handler's definition and triggers with an engine, which syncs them to rows."""
    engine.definitions.declare(row_of(handler), handler.payload)
    engine.code_triggers.declare(handler.definition, handler.triggers)


def row_of(handler: Handler) -> Definition:
    """The definition to sync: with its payload schema, and a hash of the whole declaration.

    Computed late, because a type hint may name a type that is defined further down in the module.
    The hash is the same in every process.
    """
    schema = dict(handler.payload.schema)
    _check_default(handler.definition, schema)
    whole = replace(handler.definition, payload_schema=dump_json(schema))
    text = dump_json(asdict(whole))
    return replace(whole, code_hash=hashlib.sha256(text.encode()).hexdigest())


def _check_default(definition: Definition, schema: Mapping[str, Any]) -> None:
    """Refuse a default payload with unknown fields."""
    known = list(schema.get("properties", ()))
    for name in load_json(definition.default_payload):
        if schema.get("additionalProperties") is False and name not in known:
            near = nearest(name, known)
            raise DefinitionInvalid(
                definition.key,
                f"its default_payload has {name!r}, and its payload has no such field",
                hint=f"Did you mean {near!r}?" if near else f"Known are {', '.join(known)}.",
                pointer="/default_payload",
            )


def _by_time(key: str, options: JobOptions) -> tuple[DeclaredTrigger, ...]:
    schedules = options.get("schedule")
    if schedules is not None:
        misfire, overlap = options.get("misfire", "fire_once"), options.get("overlap", "allow")
        each = schedules if isinstance(schedules, list | tuple) else [schedules]
        declared = tuple(time_trigger(_schedule(key, one), misfire, overlap) for one in each)
        names = [one.name_for(key) for one in declared]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise DefinitionInvalid(
                key,
                f"two of its schedules are called {twice!r}",
                hint='Give each a name: `cron("0 2 * * *", name="nightly")`.',
            )
        return declared
    for name in ("misfire", "overlap"):
        if name in options:
            raise DefinitionInvalid(
                key, f"it has {name}, but no schedule", hint="Give it a schedule, or leave it out."
            )
    return ()


def _schedule(key: str, given: object) -> "Schedule":
    """Parse a schedule; text is a cron expression."""
    from windlass.core.triggers.schedule import CronSchedule, Schedule

    if isinstance(given, str):
        try:
            return CronSchedule(given)
        except ScheduleInvalid as error:
            raise error.named(key) from None
    if isinstance(given, Schedule):
        return given
    raise DefinitionInvalid(
        key,
        f"schedule is {given!r}",
        hint='Use a cron expression such as "0 2 * * *", cron(…), every(…), once(…), init(…), or a '
        "list of them.",
    )


def _running(options: JobOptions, settings: Settings, timeout: timedelta) -> dict[str, Any]:
    """The options that an operator may edit later."""
    values = {name: value for name, value in options.items() if name in RUNNING}
    if "key" in options and not {"max_per_key", "rate_per_key"} & values.keys():
        values["max_per_key"] = 1
    usual = {"max_attempts": settings.worker.max_attempts}
    return edits({**usual, **values, "timeout": timeout})


def grace_seconds(key: str, options: JobOptions, *, usual: str) -> float:
    """Time for a run to stop on request before it is killed."""
    grace = options.get("grace", usual)
    seconds = duration(grace, option="grace").total_seconds()
    if seconds > _LONGEST_GRACE:
        raise DefinitionInvalid(
            key, f"grace is {grace!r}", hint=f"Use up to {_LONGEST_GRACE} seconds."
        )
    return seconds


def _limit_key(name: str, function: Callable[..., Any], options: JobOptions) -> str | None:
    path = options.get("key")
    if path is not None and (field := path.split(".")[1]) not in (fields := _fields(function)):
        near = nearest(field, fields)
        raise DefinitionInvalid(
            name,
            f"its key is {path!r}, and no parameter is called {field!r}",
            hint=f"Did you mean `args.{near}`?" if near else "Name one of its parameters.",
        )
    if path is None and {"max_per_key", "rate_per_key"} & options.keys():
        raise DefinitionInvalid(
            name,
            "it has a limit per key, and no key",
            hint='Name the field that is the key: `key="args.account_id"`.',
        )
    return path


def _fields(function: Callable[..., Any]) -> list[str]:
    """Names of the payload's fields, as far as the type hints can be resolved yet."""
    with suppress(DefinitionInvalid):
        return [
            field.alias for field in read_signature(function, "", context_type=JobContext).fields
        ]
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]


def _check(key: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name not in _NAMES:
            near, ours = nearest(name, _NAMES), DEFINITION_OPTIONS.get(name)
            hint = f"Did you mean {near!r}?" if near else f"Known are {', '.join(sorted(_NAMES))}."
            raise DefinitionInvalid(
                key, f"{name!r} is no option of a job", hint=f"Give {ours}." if ours else hint
            )
        fits, allowed = _ALLOWED.get(name, (None, ""))
        if fits is not None and not fits(value):
            raise DefinitionInvalid(key, f"{name} is {value!r}", hint=f"Use {allowed}.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionInvalid(
            key, "it is a generator", hint="Return a value instead of yielding."
        )
    if "grace" in options and options.get("isolation") != "process":
        raise DefinitionInvalid(
            key,
            "it has a grace, but only a process can be killed",
            hint='Add isolation="process", or leave the grace out.',
        )
    if "memory_limit_mb" in options and options.get("isolation") != "process":
        raise DefinitionInvalid(
            key,
            "it has a memory_limit_mb, which only a process can enforce",
            hint='Add isolation="process", or leave the limit out.',
        )


def _is_jobs(value: object) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(each, str) or hasattr(each, "key") for each in value
    )


def _is_errors(value: object) -> bool:
    return isinstance(value, Sequence) and all(
        isinstance(each, type) and issubclass(each, BaseException) for each in value
    )


#: Option -> its check and allowed values in words; other options are checked where they are used.
_ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **{name: ALLOWED[name] for name in RUNNING & ALLOWED.keys()},
    "backoff": (lambda value: isinstance(value, Backoff), "a windlass.Backoff"),
    "key": (is_payload_path, "a field of the payload, such as 'args.account_id'"),
    "truncate_result": (lambda value: isinstance(value, bool), "True or False"),
    "version": (whole_number_rule(1, 10_000), "1 to 10000"),
    "memory_limit_mb": (
        whole_number_rule(LEAST_MEMORY_MB, MOST_MEMORY_MB),
        f"{LEAST_MEMORY_MB} to {MOST_MEMORY_MB}",
    ),
    "default_payload": (lambda value: isinstance(value, Mapping), "an object of names and values"),
    "permanent": (_is_errors, "a list of exception classes"),
    "retry_on": (_is_errors, "a list of exception classes"),
    "on_dead_letter": (
        lambda value: isinstance(getattr(value, "key", value), str),
        "a definition's key, or a declared job",
    ),
    "after": (_is_jobs, "a list of keys or declared jobs"),
    "misfire": word_rule(Misfire),
    "overlap": word_rule(Overlap),
    "isolation": word_rule(Isolation),
    "dedupe": word_rule(Literal["payload"]),
    "on_duplicate": word_rule(OnDuplicate),
    "on_parent_failure": word_rule(ParentFailure),
}


def _is_async(function: Callable[..., Any]) -> bool:
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _key(option: str, other: str | HasKey) -> str:
    """The key of a definition, given as text or as a declared job."""
    return check_name(option, other if isinstance(other, str) else other.key)


def _where(key: str, function: Callable[..., Any], isolation: str) -> tuple[str, str | None, str]:
    module, name = function.__module__, getattr(function, "__qualname__", f"<{key}>")
    if isolation == "process" and "<" in name:
        raise DefinitionInvalid(
            key,
            "it is nested in another function or has no name, so a child process cannot import it",
            hint="Move it to the top level of its module, or use isolation='thread'.",
        )
    loaded = sys.modules.get(module)
    # A module run as a program, or loaded by its file path, cannot be imported by name.
    by_file = module == "__main__" or getattr(loaded, "__windlass_file__", None)
    return module, (getattr(loaded, "__file__", None) if by_file else None), name
