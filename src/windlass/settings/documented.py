"""A `windlass.toml` that documents every setting, all of them commented out."""

import textwrap

from windlass.settings import commands
from windlass.settings.kinds import Setting, settings_of
from windlass.settings.sources import variable
from windlass.settings.tree import SECTIONS, SettingsTree

_INTRODUCTION = """\
# Settings of Windlass, with their defaults. Remove the # before a key to change it.
# The environment wins over this file, flags and arguments win over both.
# What holds, and from where: windlass config show --origin
"""


def template() -> str:
    """The text of a documented `windlass.toml`. As it stands it changes nothing."""
    top = "\n".join(_lines(name, name, one) for name, one in settings_of(SettingsTree).items())
    parts = [_INTRODUCTION, top]
    for section, kind in SECTIONS.items():
        keys = settings_of(kind).items()
        lines = "\n".join(_lines(name, f"{section}.{name}", one) for name, one in keys)
        about = _comment(" ".join((kind.__doc__ or "").split()))
        parts.append(f"{about}[{section}]\n\n{lines}")
    return "\n".join([*parts, _commands()])


def _commands() -> str:
    example = '[commands.sync] with run = ["tool", "sync", "{folder}"]'
    about = f"{commands.CommandSettings.__doc__} Such as {example}. None is declared by default."
    lines = "".join(
        _comment(f"{name}: {one.doc} Allowed: {one.allowed}.")
        for name, one in settings_of(commands.CommandSettings).items()
    )
    return _comment(about) + lines


def _lines(name: str, key: str, setting: Setting) -> str:
    default = setting.spell(setting.default)
    about = f"{setting.doc} Allowed: {setting.allowed}. Variable: {variable(key)}."
    # A key that is unset has no spelling in TOML.
    return f"{_comment(about)}#{name} = {default}\n" if default else f"{_comment(about)}#{name} =\n"


def _comment(text: str) -> str:
    return textwrap.fill(text, 98, initial_indent="# ", subsequent_indent="# ") + "\n"
