"""Settings: one frozen tree, and the sources each value may come from.

Arguments and flags win over the environment, the environment over the file, the file over the
default. `worker.lease_seconds` is WINDLASS_WORKER_LEASE_SECONDS in the environment, and
`lease_seconds` in the section [worker] of `windlass.toml` or [tool.windlass.worker] of
`pyproject.toml`, looked for in the working directory. All problems are reported at once.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from windlass.errors import SettingProblem, SettingsInvalid
from windlass.settings.commands import SECTION as COMMANDS
from windlass.settings.commands import CommandSettings
from windlass.settings.sources import (
    COMMAND_KEY,
    SETTINGS,
    SettingValue,
    from_arguments,
    from_environment,
    from_file,
)
from windlass.settings.tree import (
    SECTIONS,
    AlertSettings,
    AuditSettings,
    BackoffSettings,
    DatabaseSettings,
    EncryptionSettings,
    LibrarySettings,
    LimitSettings,
    LogSettings,
    RedactionSettings,
    SchedulerSettings,
    ServerSettings,
    SettingsTree,
    WorkerSettings,
)

__all__ = [
    "AlertSettings",
    "AuditSettings",
    "BackoffSettings",
    "CommandSettings",
    "DatabaseSettings",
    "EncryptionSettings",
    "LibrarySettings",
    "LimitSettings",
    "LogSettings",
    "Origin",
    "RedactionSettings",
    "SchedulerSettings",
    "ServerSettings",
    "Settings",
    "WorkerSettings",
    "set_in_file",
    "template",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """A setting's value and where it came from. `shown` is safe for people: secrets are masked."""

    key: str
    value: Any
    shown: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(SettingsTree):
    """Every setting. `Settings()` has the defaults, `Settings.load()` what was configured."""

    _origins: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )

    @classmethod
    def load(
        cls,
        overrides: Mapping[str, object] = MappingProxyType({}),
        *,
        origin: str = "argument",
        environ: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        file: str | Path | None = None,
    ) -> Self:
        """The settings as configured; raises SettingsInvalid with every problem.

        `overrides` are flags and arguments by dotted key, None meaning not given; `origin` is
        shown as their source. `file` is read instead of what is found in `cwd`, and must exist.
        """
        found = [
            *from_file(Path(cwd or "."), Path(file) if file else None),
            *from_environment(os.environ if environ is None else environ),
            *from_arguments(overrides, origin),
        ]
        problems = [one for one in found if isinstance(one, SettingProblem)]
        # Later sources win, key by key.
        given = dict(one for one in found if not isinstance(one, SettingProblem))
        problems += _contradictions(given)
        if problems:
            raise SettingsInvalid(problems)
        return cls._of(given)

    def origins(self) -> list[Origin]:
        """Every setting by its dotted key, with its value and where that came from; of commands
        what is set."""
        shown = [
            Origin(key, value, setting.show(value), self.origin(key))
            for key, setting in SETTINGS.items()
            for value in [self._at(key)]
        ]
        for name, command in self.commands.items():
            for part, setting in COMMAND_KEY.items():
                if (value := getattr(command, part)) is not None:
                    key = f"{COMMANDS}.{name}.{part}"
                    shown.append(Origin(key, value, setting.show(value), self.origin(key)))
        return shown

    def origin(self, key: str) -> str:
        """Source of a setting's value."""
        return self._origins.get(key, "default")

    @classmethod
    def _of(cls, given: Mapping[str, SettingValue]) -> Self:
        top: dict[str, Any] = {name: {} for name in SECTIONS}
        commands: dict[str, dict[str, Any]] = {}
        for key, one in given.items():
            section, _, name = key.rpartition(".")
            if section.startswith(f"{COMMANDS}."):
                own = commands.setdefault(section.removeprefix(f"{COMMANDS}."), {})
                own[name] = one.value
            else:
                (top[section] if section else top)[name] = one.value
        top[COMMANDS] = MappingProxyType(
            {key: CommandSettings(**own) for key, own in commands.items()}
        )
        for name, kind in SECTIONS.items():
            top[name] = kind(**top[name])
        origins = MappingProxyType({key: one.origin for key, one in given.items()})
        return cls(**top, _origins=origins)

    def _at(self, key: str) -> Any:
        section, _, name = key.rpartition(".")
        return getattr(getattr(self, section) if section else self, name)


def set_in_file(path: str | Path, key: str, text: str, *, dry_run: bool = False) -> None:
    """Write one setting, given as text, to a settings file; everything else in it stays.

    Checked before anything is written, which with `dry_run` is all; SettingsInvalid if the key or
    the value is wrong.
    """
    from windlass.settings import edit

    edit.set_in_file(Path(path), key, text, dry_run=dry_run)


def template() -> str:
    """The text of a `windlass.toml` that documents every setting and changes none."""
    from windlass.settings import documented

    return documented.template()


def _contradictions(given: Mapping[str, SettingValue]) -> list[SettingProblem]:
    """Values that are fine alone and cannot stand together."""

    def of(key: str) -> SettingValue:
        return given.get(key, SettingValue(SETTINGS[key].default, "default"))

    problems = []
    kind, delays = of("backoff.kind"), of("backoff.delays_seconds")
    base, cap = of("backoff.base_seconds"), of("backoff.cap_seconds")
    if kind.value == "list" and not delays.value:
        needed = 'allowed is at least one delay when backoff.kind is "list"'
        problems.append(SettingProblem("backoff.delays_seconds", "[]", needed, delays.origin))
    if kind.value == "exponential" and cap.value < base.value:
        needed = f"allowed is at least backoff.base_seconds, {base.value:g}"
        problems.append(SettingProblem("backoff.cap_seconds", f"{cap.value:g}", needed, cap.origin))
    key, file = of("audit.key"), of("audit.key_file")
    if key.value is not None and file.value is not None:
        needed = "allowed is only one of audit.key and audit.key_file"
        problems.append(SettingProblem("audit.key_file", repr(file.value), needed, file.origin))
    return problems
