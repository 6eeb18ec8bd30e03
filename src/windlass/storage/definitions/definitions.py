"""Verbs on definitions."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import Scope
from windlass.core.payloads.json_text import dump_json
from windlass.ids import JobId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Session
from windlass.storage.sql import rows
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Batch

#: Maps the rows found, by key, to the rows to store.
Change = Callable[[Mapping[str, Definition]], Sequence[Definition]]


class DefinitionVerbs:
    _db: Database

    @retry_deadlocks
    async def change_definitions(self, keys: Collection[str], change: Change) -> set[str]:
        """Change definitions under a lock: `change` gets the rows of these keys and returns those
        to store. Returns their keys. Regate afterwards."""
        async with self._db.transaction() as session:
            return await change_definitions(session, keys, change)

    async def sync_definitions(self, declared: Sequence[Definition]) -> set[str]:
        """Update rows to the definitions in code. Returns the keys that were new or changed."""
        return await self.change_definitions([each.key for each in declared], following(declared))

    async def definitions(self) -> list[Definition]:
        """All definitions, by key."""
        return [rows.definition(row) for row in await self._db.run("definitions")]

    async def definition_triggers(
        self, scope: Scope, keys: Collection[str]
    ) -> dict[str, tuple[str | None, datetime | None]]:
        """By definition: the type of its own trigger in code, and its triggers' next due time."""
        found = await self._db.run(
            "definition_triggers", known=Batch(key=list(keys)), tenant_id=scope.tenant
        )
        return {
            row["definition"]: (row["strategy"], rows.optional_instant(row["next_run_at"]))
            for row in found
        }

    async def last_attempt_started_at(self, scope: Scope, key: str) -> datetime | None:
        """The start of the last attempt among a definition's newest ended jobs."""
        [row] = await self._db.run(
            "last_attempt_started_at", definition=key, tenant_id=scope.tenant
        )
        return rows.optional_instant(row["last_run_at"])

    @retry_deadlocks
    async def delete_definition(self, key: str) -> bool:
        """Delete a definition; False if there is none, or a job or a trigger refers to it."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            gone = bool(await session.run("delete_definition", key=key))
            if gone:
                await session.run("set_limits")
            return gone

    async def recently_changed_gates(self) -> bool:
        """Check if a definition's gate changed within the last hour."""
        return bool(await self._db.run("recently_changed_gates"))

    async def move_to_current_gate(self, cursor: JobId, *, most: int = 2000) -> JobId | None:
        """Move some queued jobs after `cursor` behind the current gate of their definition.
        Returns the next cursor, None at the end."""
        moved = await self._db.run("move_to_current_gate", cursor=cursor, most=most)
        last = moved[0]["last_id"]
        return JobId(rows.uuid(last)) if last else None


async def change_definitions(session: Session, keys: Collection[str], change: Change) -> set[str]:
    """Change definitions in the open transaction."""
    await session.run("lock_definitions")
    found = await session.run("definitions_by_key", known=Batch(key=list(keys)))
    before = {row["key"]: rows.definition(row) for row in found}
    changed = change(before)
    if changed:
        await session.run("upsert_definitions", definitions=_definition_batch(changed))
    if any(_limits(each) != _limits(before.get(each.key)) for each in changed):
        await session.run("set_limits")
        await session.run("acquire_limits_for_running")
    return {each.key for each in changed}


def following(declared: Sequence[Definition]) -> Change:
    """The change that updates rows to the definitions in code."""
    return lambda found: [
        merge.merge_with_code(found.get(each.key), each)
        for each in declared
        if merge.needs_sync(found.get(each.key), each)
    ]


def _limits(definition: Definition | None) -> tuple[Any, ...]:
    if definition is None:
        return (None,) * 6
    return (
        definition.max_concurrency,
        definition.max_per_key,
        definition.rate_count,
        definition.rate_seconds,
        definition.key_rate_count,
        definition.key_rate_seconds,
    )


def _definition_batch(definitions: Sequence[Definition]) -> Batch:
    return Batch(
        **{
            column: [_value(getattr(definition, column)) for definition in definitions]
            for column in BATCHES["definitions"]
        }
    )


def _value(value: Any) -> Any:
    """A list or mapping as JSON text, any other value as it is."""
    if isinstance(value, tuple | list):
        return dump_json(list(value))
    return dump_json(dict(value)) if isinstance(value, Mapping) else value
