"""Lists of jobs, by what people ask for."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.filter import parse
from windlass.core.jobs.models import ALL_TENANTS, JobPage, Scope
from windlass.core.jobs.query import FilterTerm, JobQuery, TextPrefix
from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.redact import Redactor
from windlass.core.payloads.schema_marks import applicable_schemas, is_marked_secret, subschemas_at
from windlass.errors import FilterInvalid, OptionInvalid
from windlass.ids import JobId
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.engine.definitions.definitions import Definitions

MOST_JOBS = 10_000


class JobLists:
    def __init__(
        self, storage: Storage, definitions: "Callable[[], Definitions]", redactor: Redactor
    ) -> None:
        self._storage = storage
        self._definitions = definitions
        self._redactor = redactor

    async def page(
        self,
        query: JobQuery | str = "",
        *,
        scope: Scope = ALL_TENANTS,
        after: JobId | None = None,
        limit: int = 50,
    ) -> JobPage:
        """Jobs newest first, without payloads and results. FilterInvalid if a text is no query."""
        if not 1 <= limit <= MOST_JOBS:
            raise OptionInvalid("limit", limit, allowed=f"1 to {MOST_JOBS:,}")
        resolve_query = await self.resolve_query(parse(query) if isinstance(query, str) else query)
        return await self._storage.jobs.page(scope, resolve_query, after=after, limit=limit)

    async def resolve_query(self, query: JobQuery) -> JobQuery:
        """The query as storage takes it: times by the database's clock, tags as definitions, and
        secrets in payloads left alone."""
        if query.relative:
            query = query.at(await self._storage.now())
        if not any(term.field == "tag" or term.path for term in query.terms):
            return query
        rows = {row.key: row for row in await self._definitions().list(system=True)}
        terms = [
            _of_definitions(term, rows) if term.field == "tag" else term for term in query.terms
        ]
        hidden = {
            key for term in terms if term.path for key in self._definitions_hiding(term, rows)
        }
        if hidden:
            terms.append(FilterTerm("definition", tuple(sorted(hidden)), negated=True))
        return JobQuery(tuple(terms))

    def _definitions_hiding(self, term: FilterTerm, rows: Mapping[Any, Definition]) -> list[str]:
        """The definitions that hide this field: whoever could filter by it could guess it."""
        if any(map(self._redactor.is_secret_name, term.path)):
            raise FilterInvalid(
                term.name,
                "what stands under such a name is secret, and is not shown or looked for",
                at=None,
                hint="Ask for another field.",
            )
        if term.field != "payload":
            return []
        return [str(key) for key, row in rows.items() if _hides(row, term.path)]


def _of_definitions(term: FilterTerm, rows: Mapping[Any, Definition]) -> FilterTerm:
    keys = [str(key) for key, row in rows.items() if any(_is_one(tag, term) for tag in row.tags)]
    return replace(term, field="definition", values=tuple(sorted(keys)))


def _is_one(tag: str, term: FilterTerm) -> bool:
    return any(
        tag.startswith(value.text) if isinstance(value, TextPrefix) else tag == value
        for value in term.values
    )


def _hides(row: Definition, path: tuple[str, ...]) -> bool:
    root = load_json(row.payload_schema)
    schemas = applicable_schemas([root], root)
    for step in path:
        schemas = subschemas_at(schemas, step, root)
        if is_marked_secret(schemas):
            return True
    return False
