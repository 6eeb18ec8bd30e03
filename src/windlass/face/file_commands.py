"""The commands that the settings file declares."""

from collections.abc import Iterator, Sequence
from typing import Any

from windlass.errors import FieldError, SettingProblem, SettingsInvalid, WindlassError
from windlass.face.commands import declare_command
from windlass.settings import Command, Settings
from windlass.worker.handlers import Handler

#: What the file spells with its unit, and `wl.command(...)` without.
_SPELLED = {"timeout_seconds": "timeout", "grace_seconds": "grace"}
#: What errors call the argument list.
_ARGV = "argv"


def commands_of(settings: Settings) -> Sequence[Handler]:
    """A handler for each command; SettingsInvalid lists every problem with any of them."""
    handlers: list[Handler] = []
    problems: list[SettingProblem] = []
    for key, command in settings.commands.items():
        where = settings.origin(f"commands.{key}.run")
        try:
            said = _said(command)
            handlers.append(declare_command(key, command.run or (), said, settings, where=where))
        except WindlassError as error:
            problems += _problems(key, command, error, where)
    if problems:
        raise SettingsInvalid(problems)
    return handlers


def _said(command: Command) -> Any:
    said = {
        _SPELLED.get(name, name): value
        for name in command.__dataclass_fields__
        if name != "run" and (value := getattr(command, name)) is not None
    }
    if said.get("tenant_flag") is False:
        said["tenant_flag"] = None
    return said


def _problems(
    key: str, command: Command, error: WindlassError, where: str
) -> Iterator[SettingProblem]:
    for one in error.errors or [FieldError("", str(error))]:
        steps = one.pointer.split("/")[1:]
        value: Any = {_ARGV: list(command.run or ()), **_said(command)}
        for step in steps:
            value = _under(value, step)
        shown = "…" if not steps or value is None else repr(value)[:80]
        names = [
            "run" if steps[:1] == [_ARGV] and not at else step for at, step in enumerate(steps)
        ]
        yield SettingProblem(".".join(["commands", key, *names]), shown, one.message, where)


def _under(value: Any, step: str) -> Any:
    try:
        return value[int(step) if isinstance(value, list) else step]
    except (LookupError, TypeError, ValueError):
        return None
