"""Definitions that a worker can run: handlers in code and by path, with operators' edits."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping

from windlass.core.definitions.definition import Definition
from windlass.core.leases.gates import needs
from windlass.telemetry import Telemetry
from windlass.worker.backend import DefinitionBackend
from windlass.worker.handlers import Handler, Handlers

#: Finds the handler of a definition whose row names a dotted path; ImportError if it cannot.
Resolve = Callable[[Definition], Handler]


class RunnableDefinitions:
    """The handlers of one worker, brought up to date from the rows now and then. A claim is correct
    even if they are out of date."""

    def __init__(
        self,
        handlers: Handlers,
        definitions: DefinitionBackend,
        telemetry: Telemetry,
        resolve: Resolve | None = None,
    ) -> None:
        self._handlers = handlers
        self._definitions = definitions
        self._telemetry = telemetry
        self._resolve = resolve
        self._by_path: dict[str, Handler] = {}
        #: Handlers by path that are gone from the rows; a claim under way may still bring a job.
        self._retired: dict[str, Handler] = {}
        self._edited: dict[str, tuple[Definition, Handler]] = {}
        #: Why definitions by path cannot be imported here, by key.
        self.import_errors: dict[str, str] = {}
        self._known: tuple[int, list[str]] | None = None

    def __getitem__(self, key: str) -> Handler:
        """The handler of a definition, with operators' edits."""
        if found := self._by_path.get(key):
            return found
        if key not in self._handlers:
            return self._retired[key]
        handler = self._handlers[key]
        definition = self._definitions.effective(handler.definition)
        if definition is handler.definition:
            return handler
        edited = self._edited.get(key)
        if edited is None or edited[0] is not definition:
            edited = self._edited[key] = definition, handler.with_definition(definition)
        return edited[1]

    def handlers(self, keys: Iterable[str]) -> dict[str, Handler]:
        """The handlers of a batch's definitions; each is looked up once."""
        return {key: self[key] for key in set(keys)}

    @property
    def keys(self) -> Collection[str]:
        """The definitions that can be run here."""
        return [*self._handlers, *self._by_path]

    @property
    def versions(self) -> Mapping[str, int]:
        """The latest payload version that is understood, by definition."""
        return {
            key: handler.definition.version
            for handlers in (self._handlers, self._by_path)
            for key, handler in handlers.items()
        }

    @property
    def known(self) -> list[str]:
        """Parameter of a claim: definitions with the versions of their payloads."""
        size = len(self._handlers) + len(self._by_path)
        if self._known is None or self._known[0] != size:
            self._known = size, needs(self.versions)
        return self._known[1]

    async def refresh(self) -> None:
        """Read the rows again: for edits, and for definitions by path."""
        await self._definitions.refresh()
        if self._resolve is None:
            return
        rows = {
            row.key: row
            for row in self._definitions.rows
            if (row.kind == "path" or (row.kind == "command" and row.origin == "operator"))
            and row.key not in self._handlers
        }
        for key in self._by_path.keys() - rows.keys():
            self._retire(key)
        self.import_errors = {k: e for k, e in self.import_errors.items() if k in rows}
        for key, row in rows.items():
            known = self._by_path.get(key)
            if known is None or known.definition != row:
                await self._import(row, self._resolve)
        self._known = None

    async def _import(self, row: Definition, resolve: Resolve) -> None:
        try:
            # In a thread: importing may take long, and leases are renewed meanwhile.
            found = await asyncio.to_thread(resolve, row)
            self._by_path[row.key] = found.with_definition(row)
            self.import_errors.pop(row.key, None)
        except Exception as error:  # noqa: BLE001  importing runs anything; the jobs wait
            self._retire(row.key)
            reason = f"{type(error).__name__}: {error}"
            if self.import_errors.get(row.key) != reason:
                self._telemetry.trouble(f"importing {row.handler} for {row.key}", error)
            self.import_errors[row.key] = reason

    def _retire(self, key: str) -> None:
        if handler := self._by_path.pop(key, None):
            self._retired[key] = handler
        self._known = None
