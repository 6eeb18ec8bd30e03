"""Creates handlers for commands declared by `wl.command(...)` or in the settings file."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from windlass.app.declare import JobOptions, declare, grace_seconds
from windlass.core.definitions import argv as argvs
from windlass.core.definitions.command_payload import CommandPayload, closed
from windlass.core.definitions.options import whole_number_rule
from windlass.core.leases.gates import check_key
from windlass.errors import ArgumentRefused, DefinitionInvalid
from windlass.errors.wording import nearest
from windlass.settings import Settings
from windlass.worker.handlers import Handler
from windlass.worker.isolation.command import Command
from windlass.worker.isolation.run_as import is_user

#: Origin of a command declared in code.
IN_CODE = "wl.command"

_MOST_MB = 16_777_216
_MOST_VARIABLES = 100
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,190}")


class CommandOptions(JobOptions, total=False):
    """Options of `wl.command(...)`, besides key and argument list."""

    #: The JSON Schema of the payload; without one there are no fields.
    payload_schema: Mapping[str, Any]
    #: Payload field -> flag, for optional fields and for values that may begin with a dash.
    options: Mapping[str, str]
    tenant_flag: str | None
    exit_codes: Mapping[int | str, str]
    #: Variables passed on from the worker's environment, and fixed ones.
    env: Sequence[str]
    env_values: Mapping[str, str]
    cwd: str
    #: The user it runs as: a name, a uid or "uid:gid". Needs a worker that runs as root.
    run_as: str
    cpu_seconds: int
    result: Literal["exit_code", "json"]


_NAMES = frozenset(CommandOptions.__annotations__) | frozenset(JobOptions.__annotations__)
#: Options that functions do not have, or that mean something else for them.
_OWN = _NAMES - frozenset(JobOptions.__annotations__) | {"memory_limit_mb", "grace"}
_TEMPLATE = ("options", "tenant_flag", "exit_codes")
_REFUSED = {
    "isolation": "A command always runs in its own process.",
    "permanent": "List permanent exit codes in exit_codes.",
    "retry_on": "List exit codes in exit_codes.",
}


def declare_command(
    key: str,
    argv: Sequence[str],
    options: CommandOptions,
    settings: Settings,
    *,
    where: str = IN_CODE,
) -> Handler:
    """Create the handler of a command. Defaults come from the settings; mistakes raise at once."""
    name = check_key(key)
    _check(name, argv, options)
    ordinary: Any = {option: value for option, value in options.items() if option not in _OWN}
    ordinary.setdefault("timeout", settings.command_timeout_seconds)
    handler = declare(runs_on_a_worker(name), name, ordinary, settings)
    schema = closed(options.get("payload_schema", {}))
    payload = CommandPayload(schema, definition=name, limit=settings.limits.payload_bytes)
    template = {option: options[option] for option in _TEMPLATE if option in options}  # type: ignore[literal-required]  # of these names
    command = Command(
        argv=argvs.parse({"argv": argv, **template}, schema, definition=name),
        env=tuple(options.get("env", ())),
        env_values=dict(options.get("env_values", {})),
        cwd=options.get("cwd"),
        run_as=options.get("run_as", settings.command_run_as),
        grace_seconds=grace_seconds(name, options, usual="3s"),
        memory_limit_mb=options.get("memory_limit_mb"),
        cpu_seconds=options.get("cpu_seconds"),
        result=options.get("result", "exit_code"),
        line_bytes=settings.limits.log_line_bytes,
        tail_bytes=settings.limits.output_tail_bytes,
    )
    words = _words(argv, command.argv)
    return replace(
        handler,
        definition=replace(
            handler.definition,
            kind="command",
            isolation="process",
            handler=words,
            memory_limit_mb=command.memory_limit_mb,
        ),
        payload=payload,
        command=command,
        permanent=(ArgumentRefused,),
        import_location=(where, None, words),
    )


def runs_on_a_worker(key: str) -> Callable[..., Any]:
    """Placeholder for the function of a command; calling it raises TypeError."""

    async def command() -> None:
        raise TypeError(f"{key} is a command: only a worker runs it, and `enqueue` has it run")

    command.__name__ = command.__qualname__ = key
    return command


def _words(argv: Sequence[str], template: argvs.ArgvTemplate) -> str:
    """The command line for display, with payload fields in braces."""
    words = [word if "{" in word else shlex.quote(word) for word in argv]
    end = words.index("--") if "--" in words else len(words)
    tenant = [template.tenant_flag, "{tenant}"] if template.tenant_flag else []
    flags = [f"[{flag}={{{field}}}]" for field, flag in template.options.items()]
    return " ".join([*words[:end], *tenant, *flags, *words[end:]])


def _check(key: str, argv: object, options: Mapping[str, Any]) -> None:
    if isinstance(argv, str):
        raise DefinitionInvalid(
            key,
            "its argument list is a single string, and no shell splits it",
            hint='Give a list of words: ["tool", "sync", "{folder}"].',
        )
    for name, value in options.items():
        if name not in _NAMES:
            near = nearest(name, sorted(_NAMES))
            hint = f"Did you mean {near}?" if near else f"Known are {', '.join(sorted(_NAMES))}."
            raise DefinitionInvalid(key, f"{name!r} is no option of a command", hint=hint)
        if name in _REFUSED:
            raise DefinitionInvalid(key, f"{name} is no option of a command", hint=_REFUSED[name])
        fits, allowed = _ALLOWED.get(name, (None, ""))
        if fits is not None and not fits(value):
            # Not the value itself: environment variables may be secret.
            shown = "not valid" if name == "env_values" else repr(value)
            raise DefinitionInvalid(key, f"{name} is {shown}", hint=f"Use {allowed}.")


def _is_variable(name: object) -> bool:
    return isinstance(name, str) and _VARIABLE.fullmatch(name) is not None


def _are_variables(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) <= _MOST_VARIABLES
        and all(map(_is_variable, value))
    )


def _are_values(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and _are_variables(list(value))
        and all(isinstance(text, str) and "\0" not in text for text in value.values())
    )


#: Option -> its check and allowed values in words; other options are checked where they are used.
_ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "payload_schema": (lambda value: isinstance(value, Mapping), "a JSON Schema of an object"),
    "env": (_are_variables, "a list of names of variables"),
    "env_values": (_are_values, "names of variables and texts"),
    "cwd": (lambda value: isinstance(value, str) and "\0" not in value, "a folder"),
    "run_as": (is_user, "the name of a user, a uid or uid:gid"),
    "memory_limit_mb": (whole_number_rule(1, _MOST_MB), f"1 to {_MOST_MB}"),
    "cpu_seconds": (whole_number_rule(1, 31_536_000), "1 to 31536000"),
    "result": (lambda value: value in ("exit_code", "json"), "'exit_code' or 'json'"),
}
