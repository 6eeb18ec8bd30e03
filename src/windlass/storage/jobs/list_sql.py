"""List-and-filter queries: the only SQL built in Python.

Jobs come newest first, by id. Each table of jobs is asked apart, and of the history each part of an
index that has what is asked for, so that rows come in order and a page costs the same however long
the history is. What no index answers is looked for among so many of the newest candidates, down to a
`floor`; the next page goes on below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from windlass.core.jobs.models import Scope
from windlass.core.jobs.query import FilterTerm, JobQuery, TextPrefix
from windlass.core.jobs.states import ENDED, JobState
from windlass.ids import JobId, uuid7
from windlass.storage.jobs.filter_sql import FUNCTIONS, Values, filter_condition, of_state

#: Characters of an error that a list shows.
ERROR_HEAD = 500
#: What a list shows: everything but payload, metadata, result and traceback.
COLUMNS = (
    "id, tenant_id, definition, queue, state, priority, due_at, source, source_ref, "
    "correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key, idempotency_key, "
    "on_parent_failure, waits, held, expires_at, attempts, max_attempts, worker_deaths, "
    "lease_token, lease_expires_at, worker_id, timeout_seconds, cancel_requested_at, "
    "cancel_requested_by, created_at, queued_at, started_at, last_started_at, finished_at, "
    "updated_at, progress, progress_note, outcome, "
    f"substr(last_error, 1, {ERROR_HEAD}) as last_error, error_type, error_class, reason, fingerprint, gate"
)
#: How many candidates are looked at for a page, of all parts together.
LOOK = 30_000
#: A page is made of no more parts than this.
MOST_PARTS = 48

#: An id is made by its enqueuer, before it is stored and by another clock: so much earlier than
#: `created_at`, and so much later.
_EARLIER, _LATER = timedelta(days=1), timedelta(hours=1)

_OPEN: Mapping[str, frozenset[JobState]] = {
    "windlass_live": frozenset({JobState.QUEUED, JobState.RUNNING}),
    "windlass_later": frozenset({JobState.PENDING, JobState.QUEUED}),
}
_TABLES = (*_OPEN, "windlass_ended")
#: What the counts of jobs can tell apart.
_COUNTED = frozenset({"tenant", "queue", "definition"})

IndexPath = Literal["id", "tenant", "definition", "correlation"]
_INDEXES: Mapping[IndexPath, str] = {
    "tenant": "windlass_ended_tenant",
    "definition": "windlass_ended_definition",
    "correlation": "windlass_ended_correlation",
}
#: Where an index has the jobs of a correlation id. Without partial indexes, every job would pay for it
#: each time that it moves, whether it has one or not.
_CORRELATED: Mapping[str, Sequence[str]] = {
    "postgresql": _TABLES,
    "sqlite": _TABLES,
    "mysql": ("windlass_ended",),
}
Statement = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The counts of the ended jobs of one definition.

    `chosen`: the query selects it, and it has or had jobs in the selected tenants and queues. `walked`
    are its jobs in the selected states, `whole` those in all, `mine` those of the selected tenants.
    """

    definition: str
    chosen: bool
    walked: int
    whole: int
    mine: int
    matching: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a table that an index has in the order of ids."""

    table: str
    conditions: tuple[str, ...]
    #: Whether every candidate is asked more than the index can answer.
    sifted: bool
    way: IndexPath = "id"


@dataclass(slots=True)
class JobList:
    """The statements that make one page."""

    kind: str
    scope: Scope
    query: JobQuery
    facts: Sequence[TableFacts] = ()
    _values: Values = field(default_factory=Values)

    @property
    def asks_counts(self) -> bool:
        """Check if counts help to choose an index for the history."""
        if not self._ended_states() or self._correlations():
            return False
        return self._counted_terms() != [] or len(self._ended_states()) < len(ENDED)

    def count(self) -> Statement:
        """The query for the counts by definition: rows of `TableFacts`."""
        values = Values()
        functions = FUNCTIONS[self.kind]

        def asked(*fields: str) -> str:
            terms = [term for term in self._counted_terms() if term.field in fields]
            conditions = [filter_condition(term, functions, values) for term in terms]
            if "tenant" in fields and self.scope.tenant:
                conditions.append(f"tenant_id = {values.add(self.scope.tenant)}")
            return " and ".join(conditions) or "1 = 1"

        states = " + ".join(self._ended_states())
        mine, both = asked("tenant"), asked("tenant", "queue")
        counts = "tenant_id, queue, definition, completed, canceled, dead_letter"
        return (
            f"select definition, max(case when {asked('definition')} and {both} then 1 else 0 end) as chosen, "
            f"sum({states}) as walked, sum(completed + canceled + dead_letter) as whole, "
            f"sum(case when {mine} then {states} else 0 end) as mine, "
            f"sum(case when {both} then {states} else 0 end) as matching "
            f"from (select {counts} from windlass_counts union all select {counts} from windlass_deltas) c "
            "group by definition order by definition",
            values.given,
        )

    def span(self) -> Statement | None:
        """Asks what stands at the ids between which jobs created in the time meant should be, None if
        no time is: see `ids_between`."""
        low, high = self._instants()
        asked: list[str] = []
        values = Values()
        if low is not None:
            below = values.add(_id_at(low - _EARLIER))
            asked += [_at_edge(table, "low", f"id < {below} order by id desc") for table in _TABLES]
        if high is not None:
            above = values.add(_id_at(high + _LATER))
            asked += [_at_edge(table, "high", f"id >= {above} order by id") for table in _TABLES]
        return (f"select {', '.join(asked)}", values.given) if asked else None

    def ids_between(
        self, found: Mapping[str, datetime | None]
    ) -> tuple[JobId | None, JobId | None]:
        """The ids between which to look, of what `span` found; None where there is no bound.

        Where ids and times do not agree, because a clock was turned, there is none.
        """
        low, high = self._instants()
        olds = [at for name, at in found.items() if name.startswith("low") and at is not None]
        news = [at for name, at in found.items() if name.startswith("high") and at is not None]
        return (
            _id_at(low - _EARLIER) if low and all(at <= low for at in olds) else None,
            _id_at(high + _LATER) if high and all(at >= high for at in news) else None,
        )

    def floor(
        self, *, above: JobId | None, below: JobId | None, look: int = LOOK
    ) -> Statement | None:
        """Finds the newest id down to which a part has its share of `look` candidates; None if nothing
        is sifted."""
        self._values = Values()
        parts = [
            f"select id from {self._from(part)} where {self._where(part.conditions, above, below)} "
            "order by id desc limit 1 offset :look"
            for part in self._parts()
            if part.sifted
        ]
        if not parts:
            return None
        self._values.given["look"] = max(1, look // len(parts))
        return f"{_united(parts)} order by id desc limit 1", self._values.given

    def page(self, *, above: JobId | None, below: JobId | None, limit: int) -> Statement | None:
        """The jobs of a page between two ids, the lower one included; None if there can be none."""
        self._values = Values({"most": limit})
        parts: list[str] = []
        for part in self._parts():
            asked = [
                filter_condition(t, FUNCTIONS[self.kind], self._values) for t in self._other_terms()
            ]
            where = self._where((*part.conditions, *asked), above, below)
            parts.append(
                f"select {COLUMNS} from {self._from(part)} where {where} order by id desc limit :most"
            )
        if not parts:
            return None
        return f"{_united(parts)} order by id desc limit :most", self._values.given

    def _parts(self) -> list[_Part]:
        """The parts that have all jobs meant. Their conditions are kept as parameters."""
        states = self._terms("state")
        sifted = any(term.field != "id" for term in self._other_terms())
        parts: list[_Part] = []
        for table, rests in _OPEN.items():
            if (asked := of_state(states, rests)) is None:
                continue
            if self._correlations() and table in _CORRELATED[self.kind]:
                parts += self._correlated_parts(table, asked)
            else:
                parts.append(_Part(table, (asked,), sifted or bool(asked)))
        return parts + self._ended_parts()

    def _ended_parts(self) -> list[_Part]:
        way, table, rests = self._way(), "windlass_ended", self._ended_states()
        sifted = self._sifted_on(way)
        if way in ("id", "correlation"):
            asked = of_state(self._terms("state"), frozenset(ENDED))
            if asked is None:
                return []
            if way == "correlation":
                return self._correlated_parts(table, asked)
            return [_Part(table, (asked,), sifted, way)]
        column = "tenant_id" if way == "tenant" else "definition"
        return [
            _Part(
                table,
                (f"{column} = {self._values.add(name)}", f"state = '{state}'"),
                sifted,
                way,
            )
            for name in (self._tenants() if way == "tenant" else self._definitions())
            for state in rests
        ]

    def _correlated_parts(self, table: str, asked: str) -> list[_Part]:
        return [
            _Part(
                table,
                (f"correlation_id = {self._values.add(name)}", asked),
                bool(asked) or self._sifted_on("correlation"),
                "correlation",
            )
            for name in self._correlations()
        ]

    def _way(self) -> IndexPath:
        """The index through which the fewest rows are passed until all jobs meant are seen."""
        if self._correlations():
            return "correlation"
        rests = len(self._ended_states())
        ways: dict[IndexPath, int] = {"id": sum(fact.whole for fact in self.facts)}
        if self._tenants() and len(self._tenants()) * rests <= MOST_PARTS:
            ways["tenant"] = sum(fact.mine for fact in self.facts)
        definitions = self._definitions()
        if self.facts and len(definitions) * rests <= MOST_PARTS:
            ways["definition"] = sum(f.walked for f in self.facts if f.definition in definitions)
        return min(ways, key=lambda way: (ways[way], self._sifted_on(way)))

    def _sifted_on(self, way: IndexPath) -> bool:
        """Check if the query has conditions that the index of a way does not cover."""
        answered = {"id"}
        # The counts have told which definitions are meant, however that was asked.
        if way == "definition" or (way != "id" and len(self._terms(way)) == 1):
            answered.add(way)
        scoped = self.scope.tenant is not None
        if way == "tenant" and scoped:
            answered.discard(way)
        elif scoped:
            return True
        if way in ("id", "correlation") and of_state(self._terms("state"), frozenset(ENDED)):
            return True
        return any(term.field not in answered for term in self._other_terms())

    def _definitions(self) -> list[str]:
        """The definitions that have or had jobs meant; of very many those that have some now."""
        chosen = [fact for fact in self.facts if fact.chosen]
        if len(chosen) * len(self._ended_states()) > MOST_PARTS:
            chosen = [fact for fact in chosen if fact.matching > 0]
        return [fact.definition for fact in chosen]

    def _tenants(self) -> Sequence[str]:
        return [self.scope.tenant] if self.scope.tenant else self._exactly("tenant")

    def _correlations(self) -> Sequence[str]:
        """The correlation ids one of which the jobs meant have; none if there are too many to walk."""
        names = self._exactly("correlation")
        return names if len(names) * len(_TABLES) <= MOST_PARTS else []

    def _ended_states(self) -> list[JobState]:
        terms = self._terms("state")
        return [s for s in sorted(ENDED) if of_state(terms, frozenset({s})) is not None]

    def _exactly(self, name: str) -> Sequence[str]:
        """The values one of which a field must have; none if that is not what is asked."""
        for term in self._terms(name):
            if not term.negated and not any(isinstance(v, TextPrefix) for v in term.values):
                return list(dict.fromkeys(map(str, term.values)))
        return []

    def _terms(self, name: str) -> list[FilterTerm]:
        return [term for term in self.query.terms if term.field == name]

    def _counted_terms(self) -> list[FilterTerm]:
        scoped = [FilterTerm("tenant", (self.scope.tenant,))] if self.scope.tenant else []
        return [*scoped, *(term for term in self.query.terms if term.field in _COUNTED)]

    def _other_terms(self) -> list[FilterTerm]:
        return [term for term in self.query.terms if term.field != "state"]

    def _instants(self) -> tuple[datetime | None, datetime | None]:
        """Between which instants jobs were created; the sharpest bounds that are asked for."""
        compared = [
            (term.operator, value)
            for term in self._terms("created")
            for value in term.values
            if not term.negated and isinstance(value, datetime)
        ]
        lows = [at for operator, at in compared if operator in (">", ">=")]
        highs = [at for operator, at in compared if operator in ("<", "<=")]
        return max(lows, default=None), min(highs, default=None)

    def _where(self, conditions: Sequence[str], above: JobId | None, below: JobId | None) -> str:
        asked = [each for each in conditions if each]
        # Whatever else is asked, a scope sees its own.
        if self.scope.tenant is not None:
            asked.append(f"tenant_id = {self._values.add(self.scope.tenant)}")
        if below is not None:
            asked.append(f"id < {self._values.add(below)}")
        if above is not None:
            asked.append(f"id >= {self._values.add(above)}")
        return " and ".join(asked) or "1 = 1"

    def _from(self, part: _Part) -> str:
        # Left to itself, this server often takes the table's own order for as good.
        index = _INDEXES.get(part.way) if self.kind == "mysql" else None
        return f"{part.table} force index ({index})" if index else part.table


def _at_edge(table: str, edge: str, where: str) -> str:
    name = f"{edge}_{table.removeprefix('windlass_')}"
    return f"(select created_at from {table} where {where} limit 1) as {name}"


def _id_at(instant: datetime) -> JobId:
    return JobId(uuid7(max(0, int(instant.timestamp() * 1000)), 0, 0))


def _united(parts: Sequence[str]) -> str:
    return " union all ".join(
        f"select * from ({part}) part_{number}" for number, part in enumerate(parts)
    )
