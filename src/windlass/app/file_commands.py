"""Commands declared in the settings file."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from windlass.app.commands import declare_command
from windlass.core.definitions.command_payload import NarrowedPayload, closed
from windlass.core.definitions.definition import Definition
from windlass.core.payloads.json_text import load_json
from windlass.errors import (
    DefinitionInvalid,
    FieldError,
    SettingProblem,
    SettingsInvalid,
    WindlassError,
)
from windlass.settings import CommandSettings, Settings
from windlass.worker.handlers import Handler

#: Option names that have a unit in the file and none in `wl.command(...)`.
_SPELLED = {"timeout_seconds": "timeout", "grace_seconds": "grace"}
#: Name of the argument list in errors.
_ARGV = "argv"


def commands_of(settings: Settings) -> Sequence[Handler]:
    """Create a handler for each command; SettingsInvalid lists the problems of all of them."""
    handlers: list[Handler] = []
    problems: list[SettingProblem] = []
    for key, command in settings.commands.items():
        where = settings.origin(f"commands.{key}.run")
        try:
            options = _command_options(command)
            handlers.append(declare_command(key, command.run or (), options, settings, where=where))
        except WindlassError as error:
            problems += _problems(key, command, error, where)
    if problems:
        raise SettingsInvalid(problems)
    return handlers


def command_handler(row: Definition, settings: Settings) -> Handler:
    """Create the handler of a definition that names a command of the settings. The argument list
    always comes from this worker's own settings."""
    command = settings.commands.get(row.handler)
    if command is None:
        allowed = ", ".join(sorted(settings.commands)) or "none"
        raise DefinitionInvalid(
            row.key,
            f"this worker's settings have no command {row.handler!r}",
            hint=f"Allowed are: {allowed}; see `[commands.<name>]` in windlass.toml.",
        )
    schema = load_json(row.payload_schema)
    where = settings.origin(f"commands.{row.handler}.run")
    options: Any = {**_command_options(command), "payload_schema": schema}
    handler = declare_command(row.key, command.run or (), options, settings, where=where)
    payload = NarrowedPayload(
        closed(schema),
        closed(command.payload_schema or {}),
        definition=row.key,
        limit=settings.limits.payload_bytes,
    )
    return replace(handler, payload=payload)


def _command_options(command: CommandSettings) -> Any:
    options = {
        _SPELLED.get(name, name): value
        for name in command.__dataclass_fields__
        if name != "run" and (value := getattr(command, name)) is not None
    }
    if options.get("tenant_flag") is False:
        options["tenant_flag"] = None
    return options


def _problems(
    key: str, command: CommandSettings, error: WindlassError, where: str
) -> Iterator[SettingProblem]:
    for one in error.errors or [FieldError("", str(error))]:
        steps = one.pointer.split("/")[1:]
        value: Any = {_ARGV: list(command.run or ()), **_command_options(command)}
        for step in steps:
            value = _step_into(value, step)
        shown = "…" if not steps or value is None else repr(value)[:80]
        names = [
            "run" if steps[:1] == [_ARGV] and not at else step for at, step in enumerate(steps)
        ]
        yield SettingProblem(".".join(["commands", key, *names]), shown, one.message, where)


def _step_into(value: Any, step: str) -> Any:
    try:
        return value[int(step) if isinstance(value, list) else step]
    except (LookupError, TypeError, ValueError):
        return None
