"""Definition key -> what runs it."""

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from windlass.core.definitions.backoff import Backoff
from windlass.core.definitions.definition import Definition
from windlass.core.leases.gates import version_of
from windlass.core.leases.lease import Lease
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.payload import RESULT_LIMIT, HandlerPayload, encode_result
from windlass.core.triggers.declared_trigger import DeclaredTrigger
from windlass.errors import DefinitionInvalid

if TYPE_CHECKING:
    from windlass.worker.isolation.command import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A definition with the callable, or the command, that runs its jobs.

    `where` tells a child process where to import it from: a module's name and, when that module
    was run as a program or loaded from a file, the file; and the name in it. Of a command it tells
    who declared it, and its words.
    """

    definition: Definition
    call: Callable[..., Any]
    payload: HandlerPayload
    is_async: bool
    backoff: Backoff
    timeout: timedelta
    permanent: tuple[type[BaseException], ...] = ()
    where: tuple[str, str | None, str]
    triggers: tuple[DeclaredTrigger, ...] = ()
    #: What brings a payload up by one version, by the version it is of.
    upcasts: dict[int, Callable[[Any], Any]] = field(default_factory=dict, compare=False)
    command: "Command | None" = None
    #: The most bytes of a result, and whether the head is kept of a larger one.
    result_bytes: int = RESULT_LIMIT
    truncate_result: bool = False
    #: From SIGTERM to SIGKILL when a process-isolated run has to stop.
    grace_seconds: float = 1.0
    #: Windlass's own: what a program wraps around its handlers is not for it.
    own: bool = False

    @property
    def is_process_isolated(self) -> bool:
        """Whether a child process imports and runs it. A command is a process of its own."""
        return self.command is None and self.definition.isolation == "process"

    def with_definition(self, definition: Definition) -> "Handler":
        """The same handler, as a definition in force says."""
        limit, backoff = definition.timeout_seconds, definition.backoff
        return replace(
            self,
            definition=definition,
            timeout=self.timeout if limit is None else timedelta(seconds=limit),
            backoff=self.backoff if backoff is None else Backoff.from_json(load_json(backoff)),
        )

    def arguments(self, lease: Lease) -> dict[str, Any]:
        """What to call it with: a payload of an older version is brought up to this one first."""
        text = lease.payload
        if self.upcasts and (version := version_of(lease.gate)) < self.definition.version:
            payload = load_json(text)
            for step in range(version, self.definition.version):
                if upcast := self.upcasts.get(step):
                    payload = upcast(payload)
            text = dump_json(payload)
        return self.payload.decode(text)

    def encode_result_text(self, result: object) -> tuple[str | None, str | None]:
        """A result as it is stored, None for none, and a note if it was changed; ResultInvalid,
        ResultTooLarge."""
        if result is None:
            return None, None
        return encode_result(result, self.result_bytes, truncate=self.truncate_result)

    @property
    def keep(self) -> bool:
        """Whether an ended job stays among the ended ones."""
        return self.definition.retention_days != 0

    def with_triggers(self, triggers: Sequence[DeclaredTrigger]) -> "Handler":
        """The same with more triggers; two of one name are a mistake."""
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
    """The handlers one process knows. Only their definitions are ever claimed by it.

    It knows what those `beneath` know too, also what they learn later.
    """

    def __init__(self, parent: "Handlers | None" = None) -> None:
        others = [] if parent is None else [parent._by_key]
        self._by_key: ChainMap[str, Handler] = ChainMap({}, *others)

    def add(self, handler: Handler) -> None:
        """Make a handler known. Another function under the same key is a mistake, the same one
        anew, as after a reload, is not."""
        key = handler.definition.key
        known = self._by_key.get(key)
        if known is not None and known.where != handler.where:
            raise DefinitionInvalid(
                key,
                f"it is declared twice, by {_name(known)} and by {_name(handler)}",
                hint='Give one of them another key: `@wl.job("other.key")`.',
            )
        self._by_key[key] = handler

    def forget(self, key: str) -> None:
        """Take back a handler that is declared anew."""
        self._by_key.pop(key, None)

    def __getitem__(self, key: str) -> Handler:
        return self._by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)


def _name(handler: Handler) -> str:
    where, _, name = handler.where
    return f"{where}.{name}" if handler.command is None else f"{where} as `{name}`"
