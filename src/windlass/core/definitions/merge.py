"""Merge of a definition's row with the code: the code wins, except where an operator edited."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from windlass.core.definitions.definition import Definition
from windlass.core.leases.gates import gate_of

#: What operators may change without a deploy.
EDITABLE = (
    "enabled",
    "title",
    "description",
    "queue",
    "priority",
    "max_attempts",
    "backoff",
    "timeout_seconds",
    "max_concurrency",
    "max_per_key",
    "rate_count",
    "rate_seconds",
    "key_rate_count",
    "key_rate_seconds",
    "limit_key",
    "dedupe",
    "dedupe_window_seconds",
    "on_duplicate",
    "isolation",
    "memory_limit_mb",
    "idempotent",
    "requires_permission",
    "on_parent_failure",
    "on_dead_letter",
    "runs_after",
    "default_payload",
    "retention_days",
    "log_retention_days",
    "retention_count",
    "tags",
    "metadata",
    "runbook_url",
)
#: Fields that JSON has as lists, and a definition as tuples.
_LISTS = ("tags", "runs_after")

#: Fields that say one thing together: an edit of one is an edit of both.
_TOGETHER = (("rate_count", "rate_seconds"), ("key_rate_count", "key_rate_seconds"))


def merge_with_code(row: Definition | None, declared: Definition) -> Definition:
    """The row that code asks for: new, or as before in whatever an operator edited."""
    code = {name: _plain(getattr(declared, name)) for name in EDITABLE}
    kept = {} if row is None else {name: getattr(row, name) for name in row.edited}
    if row is not None and row.code is None:  # written before edits were told apart
        kept = {"enabled": row.enabled}
    return _with_derived_fields(
        replace(declared, **kept, code=code, origin="code", missing_from_code=False)
    )


def needs_sync(row: Definition | None, declared: Definition) -> bool:
    """True if a row has to be written for code to be followed."""
    if row is None or row.code is None or row.missing_from_code:
        return True
    return row.code_hash != declared.code_hash


def apply_edits(row: Definition, changes: Mapping[str, Any]) -> Definition:
    """The row with an operator's changes, which win over the code from now on."""
    code = row.code
    if code is not None:
        # Of a row written by an older version the code says what stands there, where it says nothing.
        code = {**{name: _plain(getattr(row, name)) for name in EDITABLE}, **code}
    return _with_derived_fields(replace(row, **{"code": code, **changes}))


def reset_edits(row: Definition, names: Collection[str] | None = None) -> Definition:
    """The row with what the code says: in these fields, or in all."""
    code = row.code or {}
    chosen = [name for name in row.edited if names is None or name in _with_pairs(names)]
    values: dict[str, Any] = {
        name: tuple(code[name]) if name in _LISTS else code[name] for name in chosen
    }
    return _with_derived_fields(replace(row, **values))


def mark_missing(row: Definition) -> Definition:
    """The row of a definition that is no longer in the code."""
    return replace(row, missing_from_code=True)


def _with_derived_fields(row: Definition) -> Definition:
    """The row with what follows from the rest of it."""
    code = row.code or {}
    known = [name for name in EDITABLE if name in code]
    differing = _with_pairs([name for name in known if _plain(getattr(row, name)) != code[name]])
    edited = tuple(name for name in known if name in differing)
    return replace(row, edited=edited, gate=gate_of(row))


def _with_pairs(names: Collection[str]) -> set[str]:
    return {*names}.union(*(pair for pair in _TOGETHER if {*pair} & {*names}))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
