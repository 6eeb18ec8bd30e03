"""Row -> trigger or event. A trigger with unreadable fields is still one, and names them: a row edited
by hand, or written by a newer version, must not hide or stop the others."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from windlass.core.triggers.trigger import (
    Event,
    Misfire,
    Overlap,
    Trigger,
    TriggerMatch,
    TriggerType,
)
from windlass.ids import DefinitionKey, EventId, JobId, TenantId, TriggerId
from windlass.storage.sql import rows
from windlass.storage.sql.rows import Row


def trigger(row: Row) -> Trigger:
    """The trigger of a row; unreadable fields get their defaults and are named."""
    values: dict[str, Any] = {name: row[name] for name in _AS_STORED}
    unreadable = []
    for name, read in _READERS.items():
        try:
            values[name] = read(row[name])
        except (ValueError, TypeError, OverflowError):
            unreadable.append(name)
    return Trigger(
        id=TriggerId(rows.uuid(row["id"])),
        tenant=TenantId(row["tenant_id"]),
        definition=DefinitionKey(row["definition"]),
        **{"type": row["type"]} | values,
        unreadable=tuple(unreadable),
    )


def triggers(found: Iterable[Row]) -> list[Trigger]:
    """The triggers of some rows. A row without a valid id can be neither named nor changed, and is
    left out."""
    return [trigger(row) for row in found if _has_id(row)]


def event(row: Row) -> Event:
    return Event(
        id=EventId(rows.uuid(row["id"])),
        tenant=TenantId(row["tenant_id"]),
        name=row["name"],
        data=rows.decode_json(row["data"]),
        correlation_id=row["correlation_id"],
        created_by=row["created_by"],
        depth=row["depth"],
        created_at=rows.instant(row["created_at"]),
        matched_at=rows.optional_instant(row["matched_at"]),
        jobs=row["jobs"],
        matches=matches(row["matches"]),
    )


def matches(value: Any) -> tuple[TriggerMatch, ...]:
    """The outcome of each trigger for an event."""
    return tuple(TriggerMatch(**each) for each in rows.decode_json(value) or ())


def _has_id(row: Row) -> bool:
    try:
        return bool(rows.uuid(row["id"]))
    except ValueError:
        return False


def _one_of(choices: Any) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in get_args(choices):
            raise ValueError(value)
        return value

    return read


def _object(value: Any) -> Mapping[str, Any] | None:
    read = rows.decode_json(value)
    if read is not None and not isinstance(read, Mapping):
        raise TypeError(type(read))
    return read


def _names(value: Any) -> tuple[str, ...]:
    read = rows.decode_json(value)
    if not isinstance(read, list):
        raise TypeError(type(read))
    return tuple(map(str, read))


def _job_id(value: Any) -> JobId | None:
    return None if value is None else JobId(rows.uuid(value))


_AS_STORED = (
    "name", "cron", "interval_seconds", "timezone", "event_name", "delay_seconds",
    "dedupe_window_seconds", "max_attempts", "origin", "code_hash", "last_error", "created_by",
    "saved_by", "dedupe_key",
)  # fmt: skip
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "type": _one_of(TriggerType),
    "misfire": _one_of(Misfire),
    "overlap": _one_of(Overlap),
    "enabled": bool,
    "run_once": bool,
    "missing_from_code": bool,
    "payload": rows.decode_json,
    "condition": _object,
    "edited": _names,
    "code": _object,
    "last_job_id": _job_id,
    "at": rows.optional_instant,
    "next_run_at": rows.optional_instant,
    "last_run_at": rows.optional_instant,
    "last_error_at": rows.optional_instant,
    "created_at": rows.optional_instant,
    "updated_at": rows.optional_instant,
}
