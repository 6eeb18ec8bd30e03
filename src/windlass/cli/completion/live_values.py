"""Completes values from the API: definitions, queues, tenants, workers and recent jobs.

Cached values are offered at once (`completion_cache`). Other values are requested with a short
timeout; if nothing responds, nothing is offered.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

from windlass.cli.completion.completion_cache import CachedValue, offered
from windlass.cli.framework.flags import Flags, flags_of
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.styles import STATES
from windlass.errors.wording import printable

_PATIENCE = "1s"
_PLAIN_WORD = re.compile(r"[\w.:@/+=,%][\w.:@/+=,% -]*")
_RECENT = 30
_MOST = 500


@dataclass(frozen=True, slots=True)
class _Source:
    """A list of the API, its field with the value and its field with the description."""

    at: str
    value: str
    about: Sequence[str] = ()
    limit: int = _MOST
    end: int = 0
    paged: bool = True


#: Parameter name -> source of its values.
_SOURCES: Mapping[str, _Source] = {
    "definition": _Source("/definitions", "key", ("title",)),
    **dict.fromkeys(("queue", "to"), _Source("/queues", "name")),
    **dict.fromkeys(("tenant", "tenant_id"), _Source("/tenants", "id", ("name",))),
    **dict.fromkeys(("worker", "workers"), _Source("/workers", "id", ("id",), end=8, paged=False)),
    **dict.fromkeys(
        ("job", "ids"), _Source("/jobs", "id", ("view", "definition"), limit=_RECENT, end=8)
    ),
}


class _LiveValue(click.ParamType[str]):
    """A parameter type for text that the API can complete."""

    name = "text"

    def __init__(self, source: _Source) -> None:
        self._source = source

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        at = self._source.at
        flags = Invocation(flags_of(ctx)).flags
        found = offered(at, incomplete, flags, lambda: asked(at, flags))
        return completion_items((one.value, one.about) for one in found)


class _StateValues(click.ParamType[str]):
    """States and views, separated by commas."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        words = sorted({*STATES, "pending"})
        return [
            CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(begun)
        ]


class _Contexts(click.ParamType[str]):
    """The user's contexts."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from windlass.cli.connect.contexts import read

        return completion_items(
            (name, None) for name in read().known if name.startswith(incomplete)
        )


def complete_live(params: Sequence[click.Parameter]) -> None:
    """Give every parameter whose values the API knows a type that completes them."""
    for param in params:
        if param.type is not click.STRING:
            continue
        if param.name in _SOURCES:
            param.type = _LiveValue(_SOURCES[param.name])
        elif param.name == "states":
            param.type = _StateValues()
        elif param.name in ("context", "chosen"):
            param.type = _Contexts()


def asked(at: str, flags: Flags) -> Sequence[CachedValue] | None:
    """Request the values of a list of the API; None if it cannot be read."""
    source = next(each for each in _SOURCES.values() if each.at == at)
    # Only the flags that select server, database and caller: others do not belong to this request.
    call = Invocation(
        Flags(
            url=flags.url,
            db=flags.db,
            token_file=flags.token_file,
            tenant=flags.tenant,
            timeout=_PATIENCE,
        ),
        runs_here=True,
        only_reads=True,  # a key press creates no database
    )
    try:
        found = call.ask(
            lambda api: (
                api.page(source.at, limit=source.limit) if source.paged else api.get(source.at)
            )
        )
    except Exception:  # noqa: BLE001  a shell that completes has no place for an error
        return None
    return [
        CachedValue(str(item[source.value])[-source.end :], _about(source, item))
        for item in found["items"]
    ]


def completion_items(values: Iterable[tuple[str, str | None]]) -> list[CompletionItem]:
    """Completion items for a shell. Some shells insert values without quotes: skip values that a
    shell could interpret, and values that look like options."""
    return [
        CompletionItem(value, help=about and printable(about))
        for value, about in values
        if _PLAIN_WORD.fullmatch(value)
    ]


def _about(source: _Source, item: Mapping[str, Any]) -> str:
    return " ".join(str(item[name]) for name in source.about if item.get(name))
