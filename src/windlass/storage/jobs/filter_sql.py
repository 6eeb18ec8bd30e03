"""The terms of a query as SQL conditions.

Columns and functions come from the tables here, values are parameters: nothing that somebody typed
becomes a part of the text.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from windlass.core.jobs.filter_fields import FIELDS
from windlass.core.jobs.models import RETRIED_AFTER
from windlass.core.jobs.query import FilterTerm, TextPrefix, Value
from windlass.core.jobs.states import JobState, View

#: Field -> its column, or what is made of several.
_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "id": "id",
        "definition": "definition",
        "queue": "queue",
        "tenant": "tenant_id",
        "source": "source",
        "worker": "worker_id",
        "correlation": "correlation_id",
        "trigger": "trigger_id",
        "by": "created_by",
        "fingerprint": "fingerprint",
        "error_class": "error_class",
        "priority": "priority",
        "attempts": "attempts",
        "created": "created_at",
        "due": "due_at",
        "started": "last_started_at",
        "finished": "finished_at",
    }
)
#: Columns of ASCII text: some databases refuse to compare them with any other.
_ASCII = frozenset({"source", "fingerprint", "error_class"})
_TEXTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"error": ("last_error", "error_type"), "reason": ("reason",)}
)
_RETRIED = ", ".join(f"'{outcome}'" for outcome in sorted(RETRIED_AFTER))

#: The condition of each view over the state it looks at.
VIEWS: Mapping[str, tuple[JobState, str]] = MappingProxyType(
    {
        View.WAITING: (JobState.PENDING, "state = 'pending'"),
        View.RETRYING: (JobState.QUEUED, f"(state = 'queued' and outcome in ({_RETRIED}))"),
        View.SCHEDULED: (
            JobState.QUEUED,
            f"(state = 'queued' and due_at > {{now}} and (outcome is null or outcome not in ({_RETRIED})))",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Functions:
    """The expressions that databases write differently."""

    #: (text, part) -> where the part begins in it, 0 if nowhere.
    place: Callable[[str, str], str]
    #: (start, end) -> the seconds between two instants.
    seconds: Callable[[str, str], str]
    #: How a path into JSON is handed over.
    path: Callable[[tuple[str, ...]], Any]
    #: (column, path) -> the text, number, true or false there, as text.
    json_text: Callable[[str, str], str]
    #: (column, path) -> the number there.
    json_number: Callable[[str, str], str]


def _postgres_double(text: str) -> str:
    """A number's text as a double. One of so many digits that the cast would fail is infinite; a
    fraction is never written so long."""
    return (
        f"cast(case when length({text}) < 309 then {text} when {text} like '-%' then '-Infinity' "
        "else 'Infinity' end as double precision)"
    )


FUNCTIONS: Mapping[str, Functions] = MappingProxyType(
    {
        "postgresql": Functions(
            place=lambda text, part: f"strpos({text}, {part})",
            seconds=lambda start, end: (
                f"cast(extract(epoch from {end} - {start}) as double precision)"
            ),
            path=list,
            json_text=lambda column, path: (
                f"case when json_typeof({column} #> cast({path} as text[])) in "
                f"('string', 'number', 'boolean') then {column} #>> cast({path} as text[]) end"
            ),
            json_number=lambda column, path: (
                f"case when json_typeof({column} #> cast({path} as text[])) = 'number' "
                f"then {_postgres_double(f'{column} #>> cast({path} as text[])')} end"
            ),
        ),
        "mysql": Functions(
            place=lambda text, part: f"instr({text}, {part})",
            seconds=lambda start, end: f"timestampdiff(microsecond, {start}, {end}) / 1000000.0",
            path=lambda steps: "$" + "".join(f'."{step}"' for step in steps),
            json_text=lambda column, path: (
                f"case when json_type(json_extract({column}, {path})) in ('STRING', 'INTEGER', "
                f"'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL', 'BOOLEAN') "
                f"then json_unquote(json_extract({column}, {path})) end"
            ),
            json_number=lambda column, path: (
                f"case when json_type(json_extract({column}, {path})) in ('INTEGER', "
                f"'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') "
                f"then cast(json_extract({column}, {path}) as double) end"
            ),
        ),
        "sqlite": Functions(
            place=lambda text, part: f"instr({text}, {part})",
            seconds=lambda start, end: f"({end} - {start}) / 1000000.0",
            path=lambda steps: "$" + "".join(f'."{step}"' for step in steps),
            json_text=lambda column, path: (
                f"case json_type({column}, {path}) when 'true' then 'true' when 'false' then 'false' "
                f"when 'text' then json_extract({column}, {path}) "
                f"when 'integer' then cast(json_extract({column}, {path}) as text) "
                f"when 'real' then cast(json_extract({column}, {path}) as text) end"
            ),
            json_number=lambda column, path: (
                f"case when json_type({column}, {path}) in ('integer', 'real') "
                f"then json_extract({column}, {path}) end"
            ),
        ),
    }
)


@dataclass(slots=True)
class Values:
    """The parameters of a statement under construction."""

    given: dict[str, Any] = field(default_factory=dict)

    def add(self, value: object) -> str:
        """Keep a value; answers what stands for it in the text."""
        name = f"value_{len(self.given)}"
        self.given[name] = value
        return f":{name}"


def filter_condition(term: FilterTerm, functions: Functions, values: Values) -> str:
    """One term; states are not for here, because they depend on where a job rests."""
    if term.operator != "is":
        asked = _compared(term, functions, values)
    elif not term.values:
        asked = "1 = 0"
    else:
        asked = f"({' or '.join(_each(term, functions, values))})"
    return f"({asked}) is not true" if term.negated else asked


def of_state(terms: Iterable[FilterTerm], rests: frozenset[JobState]) -> str | None:
    """The condition on the state of jobs in these tables; None if none of them can hold."""
    asked: list[str] = []
    for term in terms:
        plain = [state for state in sorted(rests) if state in term.values]
        views = [
            view for name, (state, view) in VIEWS.items() if name in term.values and state in rests
        ]
        if term.negated:
            if len(plain) == len(rests):
                return None
            asked += [f"{view} is not true" for view in views]
            asked += [f"state <> '{state}'" for state in plain]
        elif not plain and not views:
            return None
        elif len(plain) < len(rests):
            either = [*[f"state = '{state}'" for state in plain], *views]
            asked.append(f"({' or '.join(either)})")
    return " and ".join(asked)


def _each(term: FilterTerm, functions: Functions, values: Values) -> Iterable[str]:
    """A condition for the plain values together, and for each of the others."""
    if term.field in _TEXTS:
        yield from (
            _part(column, value, functions, values)
            for column in _TEXTS[term.field]
            for value in term.values
        )
        return
    given = term.values
    if term.field in _ASCII:
        given = tuple(value for value in given if _is_ascii(value))
    if not given:
        yield "1 = 0"
        return
    column = _column(term, functions, values)
    plain = [value for value in given if not isinstance(value, TextPrefix)]
    if term.path:
        plain = [spelling for value in plain for spelling in _spellings(str(value))]
    if plain:
        yield f"{column} in ({', '.join(map(values.add, plain))})"
    for value in given:
        if isinstance(value, TextPrefix):
            yield _begins(column, value.text, values)


def _is_ascii(value: Value) -> bool:
    return (value.text if isinstance(value, TextPrefix) else str(value)).isascii()


def _part(column: str, value: object, functions: Functions, values: Values) -> str:
    if isinstance(value, TextPrefix):
        return f"{column} is not null"
    return f"{functions.place(f'lower({column})', f'lower({values.add(value)})')} > 0"


def _begins(column: str, text: str, values: Values) -> str:
    # Not `like`, to which in some databases the case does not count.
    return (
        f"substr({column}, 1, {len(text)}) = {values.add(text)}"
        if text
        else f"{column} is not null"
    )


def _compared(term: FilterTerm, functions: Functions, values: Values) -> str:
    [value] = term.values
    if term.field == "duration":
        ran = (
            "case when state = 'running' then "
            f"{functions.seconds('last_started_at', '{now}')} "
            f"when finished_at is not null then {functions.seconds('last_started_at', 'finished_at')} end"
        )
        return f"({ran}) {term.operator} {values.add(value)}"
    if term.path:
        number = functions.json_number(term.field, values.add(functions.path(term.path)))
        return f"({number}) {term.operator} {values.add(value)}"
    return f"{_column(term, functions, values)} {term.operator} {values.add(value)}"


def _column(term: FilterTerm, functions: Functions, values: Values) -> str:
    if FIELDS[term.field].kind == "json":
        return f"({functions.json_text(term.field, values.add(functions.path(term.path)))})"
    return _COLUMNS[term.field]


def _spellings(text: str) -> list[str]:
    """A number is stored as it was given, so that 7 may be there as 7.0."""
    if text.removesuffix(".0").lstrip("-").isdecimal():
        whole = text.removesuffix(".0")
        return [whole, f"{whole}.0"]
    return [text]
