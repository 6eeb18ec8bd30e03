"""Commands in the file: `[commands.<key>]`, one table each. Only a file can declare them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from windlass.settings.kinds import (
    BooleanKind,
    IntegerKind,
    ListKind,
    NumberKind,
    SettingKind,
    TableKind,
    TextKind,
    setting,
)

SECTION = "commands"

_YEAR = 366 * 86_400


class UnionKind:
    """A value of one of several kinds."""

    def __init__(self, *kinds: SettingKind) -> None:
        self._kinds = kinds
        self.allowed = " or ".join(kind.allowed for kind in kinds)

    def read(self, text: str) -> object:
        return text

    def fits(self, value: object) -> bool:
        return any(kind.fits(value) for kind in self._kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings:
    """A command as the file declares it; what is unset is as for `wl.command(...)`."""

    run: tuple[str, ...] | None = setting(
        ListKind(TextKind()),
        None,
        "The executable and its words; {field} stands for a required field of the payload.",
    )
    payload_schema: Mapping[str, Any] | None = setting(
        TableKind(), None, "The JSON Schema of the payload. Unset means no fields."
    )
    options: Mapping[str, str] | None = setting(
        TableKind(TextKind()),
        None,
        "Payload fields and the flags that carry them, when they are given.",
    )
    tenant_flag: str | bool | None = setting(
        UnionKind(TextKind(), BooleanKind()),
        None,
        "The flag before the tenant's id, --tenant-id if unset; false for none.",
    )
    exit_codes: Mapping[str, str] | None = setting(
        TableKind(TextKind()), None, 'What exit codes mean: "success", "retry" or "permanent".'
    )
    env: tuple[str, ...] | None = setting(
        ListKind(TextKind()), None, "Variables passed on from the worker's environment."
    )
    env_values: Mapping[str, str] | None = setting(
        TableKind(TextKind(shortest=0)), None, "Variables with fixed values.", secret=True
    )
    cwd: str | None = setting(TextKind(), None, "The folder it runs in; the worker's own if unset.")
    run_as: str | None = setting(
        TextKind(),
        None,
        "The user it runs as: a name, a uid or uid:gid; command_run_as if unset.",
    )
    result: str | None = setting(
        TextKind("exit_code", "json"),
        None,
        "json: the last line of its output is the job's result.",
    )
    timeout_seconds: float | None = setting(
        NumberKind(0.1, _YEAR),
        None,
        "How long an attempt may take; command_timeout_seconds if unset.",
    )
    grace_seconds: float | None = setting(
        NumberKind(0, 300), None, "From SIGTERM to SIGKILL when it has to stop; 3 if unset."
    )
    memory_limit_mb: int | None = setting(
        IntegerKind(1, 16_777_216), None, "Memory each of its processes may use."
    )
    cpu_seconds: int | None = setting(
        IntegerKind(1, 31_536_000), None, "Processor time each of its processes may use."
    )
    title: str | None = setting(TextKind(), None, "What people call it.")
    description: str | None = setting(TextKind(), None, "What it does.")
    queue: str | None = setting(TextKind(), None, "The queue of its jobs.")
    priority: int | str | None = setting(
        UnionKind(IntegerKind(-(2**31), 2**31 - 1), TextKind()), None, "The priority of its jobs."
    )
    max_attempts: int | None = setting(IntegerKind(1, 100), None, "Attempts its jobs have.")
    max_concurrency: int | None = setting(
        IntegerKind(1, 1_000_000), None, "How many may run at the same time, on all workers."
    )
    tags: tuple[str, ...] | None = setting(ListKind(TextKind()), None, "Words to find it by.")


def flatten(table: object) -> Iterator[tuple[str, str, object] | str]:
    """Command, field and value of each entry; the key of what is no table."""
    if not isinstance(table, dict):
        yield SECTION
        return
    for key, fields in table.items():
        if not isinstance(fields, dict):
            yield f"{SECTION}.{key}"
            continue
        if "run" not in fields:
            yield key, "run", None
        for name, value in fields.items():
            yield key, name, value
