"""Suggestions for a filter that is being typed, from totals and lists; never from the history."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, SYSTEM_TENANT, Scope
from windlass.core.jobs.states import JobState, View
from windlass.core.monitoring.suggestions import KnownValue, Suggestion, suggest, typed_term
from windlass.core.monitoring.summary import CappedCount, group_by
from windlass.engine.definitions.definitions import Definitions, Visible
from windlass.engine.monitoring.summaries import Summaries
from windlass.storage.storage import Storage

_Totals = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FilterReader:
    """Who types a filter, and what the suggestions may show them: `may` names their rights, `sees` the
    definitions. With an `owner` only jobs of that owner are counted."""

    scope: Scope = ALL_TENANTS
    owner: str | None = None
    reaches_all: bool = True
    may: Callable[[str], bool] = lambda right: True
    sees: Visible = lambda definition: True


class FilterSuggestions:
    def __init__(self, storage: Storage, definitions: Definitions, summaries: Summaries) -> None:
        self._storage = storage
        self._definitions = definitions
        self._summaries = summaries

    async def suggest(
        self, text: str, reader: FilterReader | None = None, *, limit: int = 30
    ) -> Sequence[Suggestion]:
        """What may follow a filter typed so far: fields, then values of the field, with the number
        of jobs where it is known. Empty if nothing is known."""
        who = reader or FilterReader()
        term = typed_term(text)
        values = {name: await self._values(name, who) for name in term.fields}
        # Where one tenant exists nothing speaks of tenants.
        hidden = () if await self._tenant_ids(who) else ("tenant",)
        return suggest(term, values, hidden=hidden, limit=limit)

    async def _values(self, field: str, who: FilterReader) -> Sequence[KnownValue]:
        """The known values of a field; empty if nobody lists them, or the reader may not."""
        match field:
            case "state":
                return await self._states(who)
            case "definition" if who.may("definitions.read"):
                counted = await self._totals("definition", who)
                return _by_count([each.key for each in await self._seen(who)], counted)
            case "tag" if who.may("definitions.read"):
                return await self._tags(who)
            case "queue" if who.may("queues.read"):
                counted = await self._totals("queue", who)
                named = {queue.name for queue in await self._storage.leases.queues()}
                return _by_count(named.union(counted or ()), counted)
            case "tenant":
                return await self._tenants(who)
            case "worker" if who.may("workers.read"):
                return [KnownValue(each.id) for each in await self._storage.leases.workers()]
            case _:
                return ()

    async def _states(self, who: FilterReader) -> Sequence[KnownValue]:
        if who.owner is None:
            summary = await self._summaries.summary(who.scope)
        else:
            summary = await self._summaries.own_summary(who.owner, who.scope)
        states, views = summary.states, summary.views
        shown = {
            state.value: views.get(state.value, CappedCount(states[state])) for state in JobState
        }
        shown[JobState.PENDING.value] = views[View.WAITING.value]
        # The stored state includes scheduled and retrying jobs, which its view leaves out.
        exact = who.owner is None or views[JobState.QUEUED.value].exact
        shown[JobState.QUEUED.value] = CappedCount(states[JobState.QUEUED], exact)
        shown |= {view.value: views[view.value] for view in View}
        return [KnownValue(name, count) for name, count in shown.items()]

    async def _seen(self, who: FilterReader) -> Sequence[Definition]:
        return await self._definitions.list(visible=who.sees)

    async def _tags(self, who: FilterReader) -> Sequence[KnownValue]:
        totals = await self._totals("definition", who)
        counted: dict[str, int] = {}
        for definition in await self._seen(who):
            for tag in definition.tags:
                counted[tag] = counted.get(tag, 0) + (totals or {}).get(definition.key, 0)
        return _by_count(counted, None if totals is None else counted)

    async def _tenants(self, who: FilterReader) -> Sequence[KnownValue]:
        tenants = await self._tenant_ids(who)
        if not tenants:
            return ()
        rows = await self._storage.jobs.state_counts(who.scope)
        return _by_count(tenants, _sums(group_by("tenant_id", rows)))

    async def _tenant_ids(self, who: FilterReader) -> Sequence[str]:
        """The tenants to choose from; empty if there is no choice."""
        if not who.reaches_all or who.scope.tenant is not None or not who.may("tenants.read"):
            return ()
        found = [
            each.id
            for each in await self._storage.access.tenants()
            if each.id != SYSTEM_TENANT and each.state != "deleted"
        ]
        return found if len(found) > 1 else ()

    async def _totals(self, column: str, who: FilterReader) -> _Totals | None:
        """Jobs by queue or definition; None for readers limited to jobs of their own, of which there
        are no totals."""
        if who.owner is not None:
            return None
        rows = await self._storage.monitoring.state_counts_by_queue(who.scope)
        return _sums(group_by(column, rows))


def _sums(counts: Mapping[str, Mapping[JobState, int]]) -> _Totals:
    return {name: sum(states.values()) for name, states in counts.items()}


def _by_count(names: Iterable[str], counted: _Totals | None) -> Sequence[KnownValue]:
    """The names, those with the most jobs first."""
    if counted is None:
        return [KnownValue(name) for name in sorted(names)]
    found = sorted(names, key=lambda name: (-counted.get(name, 0), name))
    return [KnownValue(name, CappedCount(counted.get(name, 0))) for name in found]
