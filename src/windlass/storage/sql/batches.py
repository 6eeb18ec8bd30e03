"""Batches: rows that travel to a verb as one parameter, and the columns that each of them has.

A value of type `json` is JSON text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, Literal, Self

Type = Literal["uuid", "text", "int", "bigint", "float", "json", "time", "bool"]
Shape = Mapping[str, Type]


class Batch:
    """Rows by column: `Batch(id=ids, token=tokens)`. A column that is left out is null in each row."""

    __slots__ = ("_size", "columns")

    def __init__(self, **columns: Sequence[Any]) -> None:
        #: Those that are not left out.
        self.columns: Mapping[str, Sequence[Any]] = columns
        sizes = set(map(len, columns.values()))
        if len(sizes) != 1:
            raise ValueError(f"columns of different lengths: {', '.join(columns)}")
        [self._size] = sizes

    @classmethod
    def of_rows(cls, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Self:
        """A batch of tuples whose fields are these columns."""
        return cls(**fields_as_columns(columns, rows))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, column: str) -> Sequence[Any]:
        return self.columns.get(column) or (None,) * self._size

    def check(self, name: str) -> None:
        """Raise ValueError if it has a column that the batch of this name has not."""
        if not self.columns.keys() <= BATCHES[name].keys():
            unknown = self.columns.keys() - BATCHES[name].keys()
            raise ValueError(f"the batch {name} has no column {', '.join(sorted(unknown))}")

    def rows(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The rows, of these columns."""
        nulls = (None,) * self._size
        return zip(*[self.columns.get(column, nulls) for column in columns], strict=True)

    def all_equal(self, column: str, value: Any) -> bool:
        """Check that a column has this value in every row."""
        return self[column].count(value) == self._size

    def take(self, places: Sequence[int]) -> Self:
        """The rows at these places, in this order."""
        return type(self)(
            **{name: [values[n] for n in places] for name, values in self.columns.items()}
        )

    def where(self, chosen: Sequence[bool]) -> Self:
        """The rows that are chosen."""
        return type(self)(
            **{name: list(compress(values, chosen)) for name, values in self.columns.items()}
        )


def fields_as_columns(
    fields: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Mapping[str, Sequence[Any]]:
    """Tuples turned into columns, named by the tuples' fields."""
    turned = dict(zip(fields, zip(*rows, strict=True)))  # noqa: B905  without rows it has no columns
    return turned or dict.fromkeys(fields, ())


BATCHES: Mapping[str, Shape] = {
    "jobs": {
        "place": "int",
        "id": "uuid",
        "tenant_id": "text",
        "definition": "text",
        "queue": "text",
        "priority": "int",
        "payload": "json",
        "due_at": "time",
        "delay": "float",
        "expires": "float",
        "max_attempts": "int",
        "timeout_seconds": "float",
        "dedupe_key": "text",
        "dedupe_window": "float",
        "idempotency_key": "text",
        "parents": "int",
        "on_parent_failure": "text",
        "held": "bool",
        "correlation_id": "text",
        "source": "text",
        "source_ref": "text",
        "trigger_id": "uuid",
        "trigger_due_at": "time",
        "created_by": "text",
        "metadata": "json",
        "own_gate": "text",
    },
    "parents": {"child_id": "uuid", "place": "int", "parent_id": "uuid"},
    "groups": {"tenant_id": "text", "queue": "text", "definition": "text", "jobs": "int"},
    "lines": {
        "queue": "text",
        "tenant_id": "text",
        "gate": "text",
        "definition": "text",
        "line_limit": "int",
        "tenant_limit": "int",
        "begin_priority": "int",
        "begin_due_at": "time",
        "begin_id": "uuid",
    },
    "limits": {
        "name": "text",
        "definition": "text",
        "tenant_id": "text",
        "queue": "text",
        "per_key": "bool",
    },
    "rooms": {"name": "text", "kind": "text", "most": "int"},
    "starts": {"name": "text", "seconds": "float", "parts": "int", "started": "int"},
    "names": {"name": "text"},
    "holds": {"job_id": "uuid", "name": "text"},
    "queues": {"queue": "text"},
    "known": {"key": "text"},
    "ids": {"id": "uuid"},
    "held": {"id": "uuid", "token": "bigint"},
    "finishes": {
        "id": "uuid",
        "token": "bigint",
        "outcome": "text",
        "state": "text",
        "delay": "float",
        "result": "json",
        "warnings": "json",
        "error": "text",
        "error_type": "text",
        "error_class": "text",
        "error_trace": "text",
        "progress": "float",
        "pid": "int",
        "exit_code": "int",
        "stdout_tail": "text",
        "stderr_tail": "text",
        "fingerprint": "text",
        "keep": "bool",
        "gate": "text",
        "uncounted": "bool",
        "spared": "bool",
        "expired_only": "bool",
    },
    "corrections": {
        "tenant_id": "text",
        "queue": "text",
        "definition": "text",
        "pending": "bigint",
        "queued": "bigint",
        "running": "bigint",
        "completed": "bigint",
        "canceled": "bigint",
        "dead_letter": "bigint",
    },
    "done_keys": {"id": "uuid", "key": "text"},
    "dead": {"id": "uuid", "event_id": "uuid"},
    "items": {"place": "int", "job_id": "uuid"},
    "firings": {"trigger_id": "uuid", "due_at": "time", "job_id": "uuid"},
    "settled": {"place": "int", "state": "text", "note": "text"},
    "reports": {"id": "uuid", "token": "bigint", "progress": "float", "note": "text"},
    "log_lines": {
        "id": "uuid",
        "token": "bigint",
        "place": "int",
        "level": "text",
        "message": "text",
        "fields": "json",
        "at": "time",
    },
    "log_ranges": {"id": "uuid", "first_line": "bigint", "last_line": "bigint"},
    "observations": {
        "kind": "text",
        "queue": "text",
        "definition": "text",
        "upto_ms": "int",
        "observed": "bigint",
        "seconds": "float",
        "tenant_id": "text",
    },
    "spans": {"span": "int", "at": "time"},
    "triggers": {
        "id": "uuid",
        "tenant_id": "text",
        "name": "text",
        "type": "text",
        "definition": "text",
        "payload": "json",
        "enabled": "bool",
        "cron": "text",
        "interval_seconds": "float",
        "at": "time",
        "timezone": "text",
        "misfire": "text",
        "overlap": "text",
        "run_once": "bool",
        "event_name": "text",
        "condition": "json",
        "delay_seconds": "float",
        "dedupe_window_seconds": "float",
        "max_attempts": "int",
        "origin": "text",
        "edited": "json",
        "code": "json",
        "code_hash": "text",
        "missing_from_code": "bool",
        "next_run_at": "time",
        "created_by": "text",
        "saved_by": "text",
        "dedupe_key": "text",
    },
    "definitions": {
        "key": "text",
        "title": "text",
        "description": "text",
        "kind": "text",
        "queue": "text",
        "priority": "int",
        "max_attempts": "int",
        "backoff": "json",
        "timeout_seconds": "float",
        "isolation": "text",
        "max_concurrency": "int",
        "payload_schema": "json",
        "default_payload": "json",
        "tags": "json",
        "system": "bool",
        "idempotent": "bool",
        "requires_permission": "text",
        "dedupe": "text",
        "dedupe_window_seconds": "float",
        "on_duplicate": "text",
        "on_parent_failure": "text",
        "retention_days": "float",
        "log_retention_days": "float",
        "retention_count": "int",
        "code_hash": "text",
        "enabled": "bool",
        "gate": "text",
        "handler": "text",
        "limit_key": "text",
        "max_per_key": "int",
        "rate_count": "int",
        "rate_seconds": "float",
        "key_rate_count": "int",
        "key_rate_seconds": "float",
        "runs_after": "json",
        "on_dead_letter": "text",
        "memory_limit_mb": "int",
        "version": "int",
        "metadata": "json",
        "runbook_url": "text",
        "origin": "text",
        "edited": "json",
        "code": "json",
        "missing_from_code": "bool",
    },
}
