"""Definition key -> what runs it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from windlass.core.backoff import Backoff
from windlass.core.declared_trigger import DeclaredTrigger
from windlass.core.models import Definition
from windlass.core.payload import PayloadModel
from windlass.errors import DefinitionInvalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A definition with the callable that runs its jobs.

    `where` tells a child process where to import it from: a module's name and, when that module
    was run as a program or loaded from a file, the file; and the name in it.
    """

    definition: Definition
    call: Callable[..., Any]
    payload: PayloadModel
    is_async: bool
    backoff: Backoff
    timeout: timedelta
    permanent: tuple[type[BaseException], ...] = ()
    where: tuple[str, str | None, str]
    triggers: tuple[DeclaredTrigger, ...] = ()

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
    """The handlers one process knows. Only their definitions are ever claimed by it."""

    def __init__(self) -> None:
        self._by_key: dict[str, Handler] = {}

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
    module, _, name = handler.where
    return f"{module}.{name}"
