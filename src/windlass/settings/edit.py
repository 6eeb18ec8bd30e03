"""Changing one setting in a file, and leaving everything else in it as it was."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from windlass.errors import SettingProblem, SettingsInvalid
from windlass.errors.wording import nearest
from windlass.settings.kinds import InvalidSetting
from windlass.settings.sources import SETTINGS

_HEADER = re.compile(r"\s*\[")


def set_in_file(path: Path, key: str, text: str, *, dry_run: bool = False) -> None:
    """Write a setting, given as text, to a `windlass.toml` or `pyproject.toml`.

    The text is read by the setting's type, so that "true" and "30" come back as what they are, and
    checked before anything is written. Comments and other lines stay. A file that is not there is
    made. SettingsInvalid if the key or value is wrong, or the file cannot be edited by line.
    """
    setting = SETTINGS.get(key)
    if setting is None:
        near = nearest(key, list(SETTINGS))
        raise _invalid(key, text, "no such setting" + (f", did you mean {near}?" if near else ""))
    try:
        spelled = setting.spell(setting.read(text))
    except InvalidSetting:
        shown = "•••" if setting.secret or setting.url else repr(text)
        raise _invalid(key, shown, f"allowed is {setting.allowed}") from None
    before = path.read_bytes().decode() if path.exists() else ""
    ends = "\r\n" if "\r\n" in before else "\n"
    before = before.replace("\r\n", "\n")
    table, _, name = key.rpartition(".")
    if path.name == "pyproject.toml":
        table = f"tool.windlass.{table}".rstrip(".")
    after = _edited(before, table, name, spelled)
    _check(before, after, [*filter(None, table.split(".")), name], spelled, path)
    if not dry_run:
        _write(path, after.replace("\n", ends))


def _invalid(key: str, shown: str, problem: str) -> SettingsInvalid:
    return SettingsInvalid([SettingProblem(key, shown, problem, "argument")])


def _edited(before: str, table: str, name: str, spelled: str) -> str:
    lines = before.removesuffix("\n").split("\n") if before else []
    start, end = _section(lines, table)
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        lines += [*gap, f"[{table}]", f"{name} = {spelled}"]
        return "\n".join(lines) + "\n"
    for place in range(start, end):
        if re.match(rf"\s*{name}\s*=", lines[place]):
            last = _value_end(lines, place, end)
            comment = _trailing_comment("\n".join(lines[place:last]))
            indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
            lines[place:last] = [f"{indent}{name} = {spelled}{comment}"]
            return "\n".join(lines) + "\n"
    place = _place_for_new(lines, start, end, name)
    lines.insert(place, f"{name} = {spelled}")
    return "\n".join(lines) + "\n"


def _section(lines: list[str], table: str) -> tuple[int | None, int]:
    """From where to where the keys of a table stand; the top level ends at the first header."""
    headers = [place for place, line in enumerate(lines) if _HEADER.match(line)]
    if not table:
        return 0, headers[0] if headers else len(lines)
    steps = r"\s*\.\s*".join(map(re.escape, table.split(".")))
    for header in headers:
        if re.match(rf"\s*\[\s*{steps}\s*\]", lines[header]):
            return header + 1, next((later for later in headers if later > header), len(lines))
    return None, len(lines)


def _value_end(lines: list[str], start: int, end: int) -> int:
    """Behind the last line of a value, which may be a list over several lines."""
    for last in range(start + 1, end + 1):
        if _parsed("\n".join(lines[start:last])) is not None:
            return last
    return start + 1


def _trailing_comment(entry: str) -> str:
    for found in re.finditer(r"\s*#", entry):
        # The first # that is not inside of the value: what stands before it says the same.
        if "\n" not in entry and _parsed(entry[: found.start()]) == _parsed(entry):
            return "  " + entry[found.start() :].strip()
    return ""


def _place_for_new(lines: list[str], start: int, end: int, name: str) -> int:
    for place in range(start, end):
        # Next to where the template documents it.
        if re.match(rf"#\s*{name}\s*=", lines[place]):
            return place + 1
    keys = [place for place in range(start, end) if re.match(r"\s*[\w\"'.-]+\s*=", lines[place])]
    return _value_end(lines, keys[-1], end) if keys else start


def _check(before: str, after: str, steps: list[str], spelled: str, path: Path) -> None:
    """Parse the edited file: it must differ in this one setting and nothing else."""
    wanted = _parsed(before)
    if wanted is None:
        raise _invalid(str(path), "…", "a valid TOML file, which it is not")
    place: Any = wanted
    for step in steps[:-1]:
        place = place.setdefault(step, {}) if isinstance(place, dict) else {}
    if isinstance(place, dict):
        place[steps[-1]] = tomllib.loads(f"it = {spelled}")["it"]
    if _parsed(after) != wanted:
        raise _invalid(".".join(steps), spelled, f"edit {path} by hand, it is written unusually")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _write(path: Path, text: str) -> None:
    # A crash leaves the old file or the new one, never half of it.
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    if path.exists():
        # Never readable by more than the old one, not even for a moment: it may hold a password.
        beside.touch(mode=0o600)
        beside.write_bytes(text.encode())
        beside.chmod(path.stat().st_mode)
    else:
        beside.write_bytes(text.encode())
    beside.replace(path)
