"""Definitions: what may run. Code declares them, rows publish them to all processes, and an
operator's edits of a row override the code until they are reset."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack
from uuid import UUID

from windlass import clock
from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition, DefinitionKind
from windlass.core.definitions.filter import DefinitionFilter
from windlass.core.definitions.options import NewDefinitionOptions, edits, fields_named
from windlass.core.enum_options import one_of
from windlass.core.jobs.models import SYSTEM_KEYS
from windlass.core.leases.gates import check_key
from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.schema_payload import definition_payload
from windlass.engine.nudges import Nudges
from windlass.errors import DefinitionExists, DefinitionInUse, DefinitionNotFound
from windlass.ids import DefinitionKey, JobId
from windlass.settings import Settings
from windlass.storage.database import Session
from windlass.storage.definitions.definitions import Change, change_definitions, following
from windlass.storage.sql.rows import definition
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.core.payloads.payload import Payload

_FRESH_SECONDS = 5.0
_FIRST = JobId(UUID(int=0))

#: The effect of `create` on a definition that exists already.
IfExists = Literal["error", "keep", "update"]
#: True if the caller may see a definition; by default it may see all.
Visible = Callable[[Definition], bool]


class Definitions:
    def __init__(self, storage: Storage, nudges: Nudges, settings: Settings) -> None:
        self._storage = storage
        self._nudges = nudges
        self._settings = settings
        self._max_attempts = settings.worker.max_attempts
        self._payload_limit = settings.limits.payload_bytes
        self._declared: dict[str, Definition] = {}
        self._payloads: dict[str, Payload] = {}
        self._unsynced: set[str] = set()
        self._ungated = False
        self._rows: dict[str, Definition] = {}
        #: By key: the row, the declared definition, and the effective one.
        self._edited: dict[str, tuple[Definition, Definition, Definition]] = {}
        self._read_at: float | None = None
        self._changes = 0
        self._refreshing = False
        self._syncing = asyncio.Lock()

    def declare(self, definition: Definition, payload: "Payload | None" = None) -> None:
        """Register a definition in code; the next sync writes its row. `payload` is the model of
        its handler's signature."""
        self._declared[definition.key] = definition
        if payload is not None:
            self._payloads[definition.key] = payload
        self._unsynced.add(definition.key)

    def settled(self, now: float) -> bool:
        """Check that nothing waits for a sync, and that the rows were read lately."""
        return (
            self._read_at is not None
            and now - self._read_at < _FRESH_SECONDS
            and not self._unsynced
            and not self._ungated
        )

    async def sync(self) -> set[str]:
        """Update the rows of definitions declared since the last sync; returns the changed keys."""
        async with self._syncing:
            keys = sorted(self._unsynced)
            if not keys:
                return set()
            # Read first: no write and no lock wait when code and rows agree.
            stale = self._stale(await self._fresh(0))
            changed = await self._storage.definitions.sync_definitions(stale) if stale else set()
            self._unsynced.difference_update(keys)
            if changed:
                self._forget_rows()
        if changed or self._ungated:
            self._ungated = False
            await self.regate()
        return changed

    async def mark_missing(self, keys: Collection[str] | None = None) -> set[str]:
        """Mark definitions that are gone from the code, for callers that have loaded all of it.
        They are no longer scheduled, and keep triggers and history. Returns the newly missing.

        With `keys`, only these can be marked: for callers that have loaded a part of the code.
        """
        await self.sync()
        left = {
            key
            for key, row in (await self._fresh(0)).items()
            if row.origin == "code"
            and not row.missing_from_code
            and key not in self._declared
            and (keys is None or key in keys)
            and not (row.system and key.startswith(SYSTEM_KEYS))  # every worker has these
        }
        if not left:
            return left
        return await self._change(
            left, lambda found: [merge.mark_missing(r) for r in found.values()]
        )

    async def is_synced(self) -> bool:
        """Check that rows agree with the declarations, so that a sync has nothing to write."""
        return not self._unsynced or not self._stale(await self._fresh(0))

    async def sync_in_transaction(self, session: Session) -> None:
        """Update the rows through a caller's transaction; a later sync does the rest, whether it
        commits or not. Awaits nothing but the session."""
        rows = {row["key"]: definition(row) for row in await session.run("definitions")}
        if stale := self._stale(rows):
            await change_definitions(session, [each.key for each in stale], following(stale))
            self._ungated = True

    def _stale(self, rows: Mapping[str, Definition]) -> list[Definition]:
        declared = [self._declared[key] for key in sorted(self._unsynced)]
        return [each for each in declared if merge.needs_sync(rows.get(each.key), each)]

    async def get(self, key: str, *, visible: Visible = lambda row: True) -> Definition:
        """The row of a definition, at most some seconds old. DefinitionNotFound also if it is not
        `visible`."""
        known = await self._fresh()
        if key not in known:
            known = await self._fresh(0)
        if key not in known or not visible(known[key]):
            seen = sorted(each.key for each in known.values() if visible(each) and not each.system)
            raise DefinitionNotFound(key, known=seen)
        return known[key]

    async def find(self, keys: Collection[str]) -> Mapping[str, Definition]:
        """The rows of these keys, if they exist. If one is missing, all are read once more."""
        rows = await self._fresh()
        if not rows.keys() >= set(keys):
            rows = await self._fresh(0)
        return {key: rows[key] for key in keys if key in rows}

    def is_declared(self, key: str) -> bool:
        """True if the code of this process declares the definition."""
        return key in self._payloads

    async def encode_payload(
        self, key: str, payload: Mapping[str, Any] | None
    ) -> tuple[Definition, str]:
        """A definition by its key, and the payload as JSON text, validated and completed by the
        defaults. Uses the handler's signature if this process declares it, else the row's schema."""
        if model := self._payloads.get(key):
            definition = self.effective(self._declared[key])
        else:
            definition = await self.get(key)
            model = definition_payload(definition, self._payload_limit)
        return definition, model.write(payload or {}, load_json(definition.default_payload))

    def known(self, key: str) -> Definition | None:
        """A definition from memory, without a query: the declared one with edits applied, else the
        row as last read."""
        declared = self._declared.get(key)
        return self._rows.get(key) if declared is None else self.effective(declared)

    async def list(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        enabled: bool | None = None,
        missing: bool | None = None,
        edited: bool | None = None,
        tag: str | None = None,
        search: str | None = None,
        system: bool = False,
        visible: Visible = lambda row: True,
    ) -> Sequence[Definition]:
        """List the `visible` definitions by key: all, or those of a queue, a kind or a tag, those
        enabled, missing from code or edited, or with a text in key, title, description, handler or
        tags.

        Windlass's own definitions only with `system`.
        """
        wanted = DefinitionFilter(
            queue=queue,
            kind=None if kind is None else one_of("kind", kind, DefinitionKind),
            enabled=enabled,
            missing=missing,
            edited=edited,
            tag=tag,
            search=search,
            system=system,
        )
        rows = (await self._fresh(0)).values()
        return [row for row in rows if wanted.fits(row) and visible(row)]

    async def enable(self, key: str) -> Definition:
        """Enable a definition; its waiting jobs may run again."""
        return await self.edit(key, enabled=True)

    async def disable(self, key: str) -> Definition:
        """Reject new jobs of a definition and let its queued ones wait."""
        return await self.edit(key, enabled=False)

    async def edit(self, key: str, /, **changes: Unpack[NewDefinitionOptions]) -> Definition:
        """Change a definition without a deploy. Edits override the code until they are reset.

        Handler and payload schema can be changed only if an operator created the definition, not if
        code declares it.
        """
        return await self._change_one(key, self._change_of(changes))

    async def reset(self, key: str, *names: str) -> Definition:
        """Undo the edits of these options, or of all. With all, deleted triggers that code declares
        come back at the next sync."""
        fields = _fields_of(names)
        changed = await self._change_one(key, lambda row: merge.reset_edits(row, fields))
        if not names:
            await self._storage.triggers.clear_deleted_triggers(key)
        return changed

    async def reset_all(self, *names: str) -> Sequence[Definition]:
        """Undo the edits of these options, or of all, in every definition. Returns the definitions
        that changed."""
        fields = _fields_of(names)
        keys = [row.key for row in (await self._fresh(0)).values() if row.edited]

        def change(found: Mapping[str, Definition]) -> Sequence[Definition]:
            reset = [(row, merge.reset_edits(row, fields)) for row in found.values()]
            return [after for before, after in reset if after != before]

        changed = await self._change(keys, change) if keys else set()
        if not names:
            for key in {
                definition for _, _, definition in await self._storage.triggers.deleted_triggers()
            }:
                await self._storage.triggers.clear_deleted_triggers(key)
        rows = await self._fresh(0)
        return [rows[key] for key in sorted(changed) if key in rows]

    async def delete(self, key: str) -> None:
        """Delete a definition that no job and no trigger refers to."""
        if not await self._storage.definitions.delete_definition(key):
            await self.get(key)  # raises if there is none
            raise DefinitionInUse(key)
        self._forget_rows()

    def effective(self, declared: Definition) -> Definition:
        """A declared definition with the edits of operators, as of the last `refresh`."""
        row = self._rows.get(declared.key)
        if row is None or not row.edited:
            return declared
        before = self._edited.get(declared.key)
        if before is not None and before[0] is row and before[1] is declared:
            return before[2]
        now = replace(declared, **{name: getattr(row, name) for name in row.edited})
        self._edited[declared.key] = row, declared, now
        return now

    async def refresh(self) -> None:
        """Read the rows again if the last read was some seconds ago; one caller reads for all."""
        if not self._refreshing:
            self._refreshing = True
            try:
                await self._fresh()
            finally:
                self._refreshing = False

    @property
    def rows(self) -> Collection[Definition]:
        """All definitions as last read."""
        return self._rows.values()

    async def create(
        self,
        key: str,
        /,
        *,
        if_exists: IfExists = "error",
        **options: Unpack[NewDefinitionOptions],
    ) -> Definition:
        """Create a definition that code does not declare. Its handler is exactly one of:

        - `path`, a function by dotted path under a prefix of the setting worker.handler_paths
        - `command`, the name of a command in the settings, `[commands.<name>]`; `payload_schema`
          may narrow its schema
        - `kind="remote"`, a worker over HTTP, such as one in another language

        If the key exists already, `if_exists` decides: "error" raises DefinitionExists, "keep"
        returns the definition as it is, "update" changes the given options. A definition that code
        declares is never updated.

        DefinitionInvalid if handler or schema cannot be used; PayloadInvalid if the default payload
        has all required fields and does not fit the schema.
        """
        return (await self.put(key, if_exists=if_exists, **options))[0]

    async def put(
        self,
        key: str,
        /,
        *,
        if_exists: IfExists = "error",
        **options: Unpack[NewDefinitionOptions],
    ) -> tuple[Definition, bool]:
        """The same as `create`; also returns True if the definition is new."""
        one_of("if_exists", if_exists, IfExists)
        fresh = Definition(
            key=DefinitionKey(check_key(key)),
            title=key,
            origin="operator",
            max_attempts=self._max_attempts,
        )
        change = self._change_of({"kind": None, **options})
        created = change(fresh)
        is_new = True

        def new(found: Mapping[str, Definition]) -> Sequence[Definition]:
            nonlocal is_new
            before = found.get(key)
            is_new = before is None
            if before is None:
                return [created]
            if if_exists == "keep":
                return []
            if if_exists == "error" or before.origin == "code":
                raise DefinitionExists(key)
            return [change(before)]

        await self._change([key], new)
        return await self.get(key), is_new

    def _change_of(self, options: Mapping[str, Any]) -> Callable[[Definition], Definition]:
        """A function that applies these options to a row and checks the result."""
        from windlass.engine.definitions.handlers import OF_HANDLERS, HandlerRules, check_complete

        handler_options = {name: options[name] for name in OF_HANDLERS if name in options}
        fields = edits({name: value for name, value in options.items() if name not in OF_HANDLERS})

        def changed(row: Definition) -> Definition:
            after = merge.apply_edits(
                HandlerRules(self._settings).apply(row, handler_options), fields
            )
            check_complete(after, self._payload_limit)
            return after

        return changed

    async def regate(self) -> None:
        """Move queued jobs behind the gates their definitions have now.

        Scans all waiting jobs, so it runs only shortly after a gate changed.
        """
        cursor: JobId | None = (
            _FIRST if await self._storage.definitions.recently_changed_gates() else None
        )
        while cursor is not None:
            cursor = await self._storage.definitions.move_to_current_gate(cursor)

    async def _change_one(self, key: str, change: Callable[[Definition], Definition]) -> Definition:
        def one(found: Mapping[str, Definition]) -> Sequence[Definition]:
            return [change(found[key])] if key in found else []

        if not await self._change([key], one):
            raise DefinitionNotFound(key, known=sorted(await self._fresh(0)))
        return await self.get(key)

    async def _change(self, keys: Collection[str], change: Change) -> set[str]:
        changed = await self._storage.definitions.change_definitions(keys, change)
        self._forget_rows()
        await self.regate()
        self._nudges.nudge_all()
        return changed

    async def _fresh(self, seconds: float = _FRESH_SECONDS) -> dict[str, Definition]:
        if self._read_at is None or clock.monotonic() - self._read_at >= seconds:
            changes, now = self._changes, clock.monotonic()
            rows = await self._storage.definitions.definitions()
            self._rows = {definition.key: definition for definition in rows}
            # Rows read while this process changed some may be older than the change.
            self._read_at = now if changes == self._changes else None
        return self._rows

    def _forget_rows(self) -> None:
        self._changes += 1
        self._read_at = None


def _fields_of(names: Collection[str]) -> Sequence[str] | None:
    return [field for name in names for field in fields_named(name)] if names else None
