"""Sources of settings: arguments, then the environment, then a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass.errors import SettingProblem
from windlass.errors.wording import nearest
from windlass.settings import commands
from windlass.settings.kinds import InvalidSetting, Setting, settings_of
from windlass.settings.tree import SECTIONS, SettingsTree

PREFIX = "WINDLASS_"
FILE = "windlass.toml"

#: Every setting by its dotted key, in the order of the file.
SETTINGS: Mapping[str, Setting] = {
    **settings_of(SettingsTree),
    **{
        f"{section}.{name}": setting
        for section, kind in SECTIONS.items()
        for name, setting in settings_of(kind).items()
    },
}
#: The settings of each command.
COMMAND_KEY: Mapping[str, Setting] = settings_of(commands.CommandSettings)


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value someone gave, and where."""

    value: Any
    origin: str


Found = Iterator[tuple[str, SettingValue] | SettingProblem]


def variable(key: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + key.replace(".", "_").upper()


def from_arguments(values: Mapping[str, object], origin: str = "argument") -> Found:
    """From flags and arguments. None means not given; text is read as a command line's."""
    for key, value in values.items():
        if value is not None:
            yield _one(key, value, origin, read_text=True)


def from_environment(environ: Mapping[str, str]) -> Found:
    """From WINDLASS_* variables. An empty one counts as not given.

    A variable that starts like a section (WINDLASS_WORKER_…) must be a setting. Others, such as
    those of command-line flags, are none of our business here.
    """
    keys = {variable(key): key for key in SETTINGS}
    for name, text in environ.items():
        if name in keys and text.strip():
            yield _one(keys[name], text, f"environment, {name}", read_text=True)
        elif name not in keys and name.startswith(tuple(variable(part) + "_" for part in SECTIONS)):
            near = nearest(name, keys)
            yield SettingProblem(name, "…", _no_setting(near), "environment")


def from_file(cwd: Path, path: Path | None) -> Found:
    """From the file given, else from `windlass.toml` or [tool.windlass] of `pyproject.toml`."""
    for place in [path] if path else [cwd / FILE, cwd / "pyproject.toml"]:
        if path is None and not place.is_file():
            continue
        import tomllib

        try:
            table: Any = tomllib.loads(place.read_text("utf-8"))
        except (OSError, ValueError) as error:
            yield SettingProblem(str(place), "…", f"a readable TOML file ({error})", "file")
            return
        if place.name == "pyproject.toml":
            table = table.get("tool", {}).get("windlass")
        if table is not None:
            yield from _from_table(table, str(place))
            return


def _from_table(table: object, origin: str) -> Found:
    if not isinstance(table, dict):
        yield SettingProblem("tool.windlass", "…", "a table", origin)
        return
    for name, value in table.items():
        if name == commands.SECTION:
            yield from _from_commands(value, origin)
        elif name not in SECTIONS:
            yield _one(name, value, origin)
        elif isinstance(value, dict):
            for key, part in value.items():
                yield _one(f"{name}.{key}", part, origin)
        else:
            yield SettingProblem(name, "…", f"a section: [{name}]", origin)


def _from_commands(table: object, origin: str) -> Found:
    for entry in commands.flatten(table):
        if isinstance(entry, str):
            yield SettingProblem(entry, "…", f"a section: [{commands.SECTION}.<key>]", origin)
            continue
        key, name, value = entry
        under = f"{commands.SECTION}.{key}."
        known = {under + each: setting for each, setting in COMMAND_KEY.items()}
        yield _one(under + name, value, origin, known=known)


def _one(
    key: str,
    value: object,
    origin: str,
    *,
    read_text: bool = False,
    known: Mapping[str, Setting] = SETTINGS,
) -> tuple[str, SettingValue] | SettingProblem:
    setting = known.get(key)
    if setting is None:
        # What stands under a misspelled key may be a secret.
        shown = str(value).lower() if isinstance(value, bool | int | float) else "…"
        return SettingProblem(key, shown, _no_setting(nearest(key, list(known))), origin)
    try:
        text = read_text and isinstance(value, str)
        return key, SettingValue(setting.read(str(value)) if text else setting.check(value), origin)
    except InvalidSetting:
        return SettingProblem(key, _shown(setting, value), f"allowed is {setting.allowed}", origin)


def _shown(setting: Setting, value: object) -> str:
    if setting.secret or setting.url:
        return "•••"
    return repr(value) if len(repr(value)) <= 80 else repr(value)[:79] + "…"


def _no_setting(near: str | None) -> str:
    return "no such setting" + (f", did you mean {near}?" if near else "")
