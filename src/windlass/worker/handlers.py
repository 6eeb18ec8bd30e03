"""Handlers by definition key: those in code, and those that one worker can run now.

A handler is the callable or command that runs the jobs of a definition.
"""

import asyncio
import sys
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from windlass.core.definitions.backoff import Backoff
from windlass.core.definitions.definition import Definition
from windlass.core.leases.gates import needs, version_of
from windlass.core.leases.lease import Lease
from windlass.core.payloads.json_text import dump_json, dump_plain_json, load_json
from windlass.core.payloads.payload import HandlerPayload
from windlass.core.payloads.result import RESULT_LIMIT, encode_result
from windlass.core.triggers.declared_trigger import DeclaredTrigger
from windlass.errors import DefinitionInvalid
from windlass.telemetry import Telemetry

if TYPE_CHECKING:
    from windlass.worker.backend import DefinitionBackend
    from windlass.worker.isolation.command import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A definition with the callable, or the command, that runs its jobs.

    `import_location` is where a child process imports it from: the module's name, the file if that
    module was run as a program or loaded by its path, and the name in it. For a command it is the
    place of its declaration, and its words.
    """

    definition: Definition
    call: Callable[..., Any]
    payload: HandlerPayload
    is_async: bool
    backoff: Backoff
    timeout: timedelta
    permanent: tuple[type[BaseException], ...] = ()
    #: If given, any other exception is permanent.
    retry_on: tuple[type[BaseException], ...] = ()
    import_location: tuple[str, str | None, str]
    triggers: tuple[DeclaredTrigger, ...] = ()
    #: Functions that upgrade a payload by one version, by the version they upgrade from.
    upcasts: dict[int, Callable[[Any], Any]] = field(default_factory=dict, compare=False)
    command: "Command | None" = None
    #: The most bytes of a result; of a larger one the head is kept if `truncate_result`.
    result_bytes: int = RESULT_LIMIT
    truncate_result: bool = False
    #: Seconds from SIGTERM to SIGKILL when a process-isolated run has to stop.
    grace_seconds: float = 1.0
    #: A system job of Windlass: the app's `around` hooks do not apply.
    is_builtin: bool = False

    @property
    def is_process_isolated(self) -> bool:
        """True if a child process imports and runs it. A command is a process of its own."""
        return self.command is None and self.definition.isolation == "process"

    @property
    def file(self) -> str | None:
        """The file that declares it, if it is known."""
        module, file, _ = self.import_location
        return file or getattr(sys.modules.get(module), "__file__", None)

    def with_definition(self, definition: Definition) -> "Handler":
        """The same handler with the options of another definition, such as an edited one."""
        limit, backoff = definition.timeout_seconds, definition.backoff
        return replace(
            self,
            definition=definition,
            timeout=self.timeout if limit is None else timedelta(seconds=limit),
            backoff=self.backoff if backoff is None else Backoff.from_json(load_json(backoff)),
        )

    def arguments(self, lease: Lease) -> dict[str, Any]:
        """Decode the payload for the call. A payload of an older version is upgraded first."""
        text = lease.payload
        if self.upcasts and (version := version_of(lease.gate)) < self.definition.version:
            payload = load_json(text)
            for step in range(version, self.definition.version):
                if upcast := self.upcasts.get(step):
                    payload = upcast(payload)
            text = dump_json(payload)
        return self.payload.decode(text)

    def encode_result_text(self, result: object) -> tuple[str | None, str | None]:
        """Encode a result for storage, None for none, with a note if it was changed. Raises
        ResultInvalid, ResultTooLarge."""
        if result is None:
            return None, None
        if (text := dump_plain_json(result, limit=self.result_bytes)) is not None:
            return text, None
        return encode_result(result, self.result_bytes, truncate=self.truncate_result)

    @property
    def keeps_history(self) -> bool:
        """True if a job stays in the history after it has ended."""
        return self.definition.retention_days != 0

    def with_triggers(self, triggers: Sequence[DeclaredTrigger]) -> "Handler":
        """The same handler with more triggers. Raises DefinitionInvalid if two have one name."""
        key, whole = self.definition.key, (*self.triggers, *triggers)
        names = Counter(trigger.name_for(key) for trigger in whole)
        for name, count in names.items():
            if count > 1:
                raise DefinitionInvalid(
                    key,
                    f"it has two triggers named {name!r}",
                    hint='Give one of them a name: `@wl.on(…, name="other")`.',
                )
        return replace(self, triggers=whole)


class Handlers(Mapping[str, Handler]):
    """The handlers of one process. It claims jobs of their definitions only.

    Those of `parent` are included, also what is added to it later.
    """

    def __init__(self, parent: "Handlers | None" = None) -> None:
        others = [] if parent is None else [parent._by_key]
        self._by_key: ChainMap[str, Handler] = ChainMap({}, *others)

    def add(self, handler: Handler) -> None:
        """Add a handler. Raises DefinitionInvalid if its key belongs to another function; the same
        function again, as after a reload, replaces it."""
        key = handler.definition.key
        known = self._by_key.get(key)
        if known is not None and known.import_location != handler.import_location:
            raise DefinitionInvalid(
                key,
                f"it is declared twice, by {_name(known)} and by {_name(handler)}",
                hint='Give one of them another key: `@wl.job("other.key")`.',
            )
        self._by_key[key] = handler

    def forget(self, key: str) -> None:
        """Remove a handler that is about to be declared again."""
        self._by_key.pop(key, None)

    def __getitem__(self, key: str) -> Handler:
        return self._by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)


#: Finds the handler of a definition whose row names a dotted path; ImportError if it cannot.
Resolve = Callable[[Definition], Handler]


class RunnableDefinitions:
    """The handlers of one worker, brought up to date from the rows now and then. A claim is correct
    even if they are out of date."""

    def __init__(
        self,
        handlers: Handlers,
        definitions: "DefinitionBackend",
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
    def handler_files(self) -> Collection[str]:
        """The files whose code the handlers are, without those of Windlass itself."""
        return {
            file
            for handler in self._handlers.values()
            if not handler.is_builtin and (file := handler.file) is not None
        }

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


def _name(handler: Handler) -> str:
    place, _, name = handler.import_location
    return f"{place}.{name}" if handler.command is None else f"{place} as `{name}`"
