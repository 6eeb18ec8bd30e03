"""SQL statements: reads the files of one database and makes them ready to run.

A file is named by its verb, lies in the folder of its area, and begins with its promise. A
statement that all databases share stands here in `sql/<area>/`; `<database>/sql/<area>/` holds only
what that database does differently, and is preferred. A file holds one statement, or several (each
ended by a line that ends in `;`) that run in one transaction; the verb returns the rows of the
statement marked `-- answer`, or of the last one. In the text:

- `:name` is a parameter,
- `{name}` of a batch: rows handed over as one parameter, to be read like a table,
- a part headed `-- let name` is no statement: the parts below it write `{name}` for its text,
- `windlass_…` tables get the configured schema.

What the databases spell differently is a macro, so that its statement can be shared:

| macro | stands for |
|---|---|
| `{now}`, `{epoch}` | the database's clock; the instant 1970-01-01 |
| `{text :x}`, `{uuid :x}`, `{int :x}`, … | a value of that type: PostgreSQL does not guess it |
| `{seconds :x}`, `{days :x}` | a length of time, to be added to an instant |
| `{since x}`, `{until x}` | seconds from `x` to now, and from now to `x` |
| `{minute x}` | the instant at which the minute of `x` began |
| `{slot x}` | the number of the slot of `:slot_seconds` that `x` is in, counted from 1970 |
| `{true x}`, `{false x}` | whether a flag is set, so that an index on it is used |
| `{name key}` | a column whose name MariaDB reserves |
| `{least}`, `{greatest}`, `{instr}` | the name of that function |
| `{sum x}` | a sum of whole numbers, as a whole number |
| `{for update}`, `{share}` | a row lock, or one that only keeps the row from going; not on SQLite |
| `{join}` | a join that reads the left side first, then the right by an index |
| `{index x}` | the index that MariaDB has to use |
| `{on_conflict a, b}`, `{new x}` | update the row that exists; the value that was to be inserted |
| `{or_ignore table.column}` | or else leave the row that exists, and that column, as it is |

`returning` at the end of an update or a delete may be shared as well: MariaDB, which has none, locks
and reads the rows first. So it must name no column that the statement changes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any, Self

from windlass.storage.sql.batches import BATCHES, Shape

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_MACRO = re.compile(r"\{([a-z_]+)(?: ([^{}]+))?\}")
_LET = re.compile(r"^-- let ([a-z_]+)$", re.MULTILINE)
_TABLE = re.compile(r"\bwindlass_(?=[a-z])")

Rows = Sequence[Mapping[str, Any]]


class Batch:
    """Rows by column: `Batch(id=ids, token=tokens)`. A column that is left out is null in each row."""

    __slots__ = ("_size", "columns")

    def __init__(self, **columns: Sequence[Any]) -> None:
        #: Those that are not left out.
        self.columns: Mapping[str, Sequence[Any]] = columns
        sizes = set(map(len, columns.values()))
        if len(sizes) != 1:
            raise ValueError(f"columns of different lengths: {', '.join(columns)}")
        [self._size] = sizes

    @classmethod
    def of_rows(cls, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Self:
        """A batch of tuples whose fields are these columns."""
        return cls(**fields_as_columns(columns, rows))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, column: str) -> Sequence[Any]:
        return self.columns.get(column) or (None,) * self._size

    def check(self, name: str) -> None:
        """Raise ValueError if it has a column that the batch of this name has not."""
        if not self.columns.keys() <= BATCHES[name].keys():
            unknown = self.columns.keys() - BATCHES[name].keys()
            raise ValueError(f"the batch {name} has no column {', '.join(sorted(unknown))}")

    def rows(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The rows, of these columns."""
        nulls = (None,) * self._size
        return zip(*[self.columns.get(column, nulls) for column in columns], strict=True)

    def all_equal(self, column: str, value: Any) -> bool:
        """Check that a column has this value in every row."""
        return self[column].count(value) == self._size

    def take(self, places: Sequence[int]) -> Self:
        """The rows at these places, in this order."""
        return type(self)(
            **{name: [values[n] for n in places] for name, values in self.columns.items()}
        )

    def where(self, chosen: Sequence[bool]) -> Self:
        """The rows that are chosen."""
        return type(self)(
            **{name: list(compress(values, chosen)) for name, values in self.columns.items()}
        )


def fields_as_columns(
    fields: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Mapping[str, Sequence[Any]]:
    """Tuples turned into columns, named by the tuples' fields."""
    turned = dict(zip(fields, zip(*rows, strict=True)))  # noqa: B905  without rows it has no columns
    return turned or dict.fromkeys(fields, ())


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in a driver's parameter style; `names` is the order of its parameters."""

    text: str
    names: tuple[str, ...]
    answers: bool


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of a statement and its parameters for one database and driver."""

    folder: str
    now: str
    #: How the n-th parameter called `name` is written.
    placeholder: Callable[[int, str], str]
    #: How a batch is read like a table.
    table: Callable[[str, Shape], str]
    #: The parameters that carry a batch.
    carry: Callable[[str, Shape, Batch], Mapping[str, Any]]
    #: How a single value is handed to the driver.
    value: Callable[[Any], Any]
    #: Macro -> its text, with `{}` for the macro's argument.
    macros: Mapping[str, str]
    #: The statements that one statement with `returning` takes.
    returning: Callable[[str], Sequence[str]] = lambda statement: [statement]
    #: True where each use of a parameter is a place of its own.
    positional: bool = False
    #: True where a percent sign in the text must be doubled.
    percent: bool = False


@cache
def sql_files(database: str) -> Mapping[str, Path]:
    """Verb -> its SQL file for a database, named by its folder: its own, else the shared one."""
    shared = Path(__file__).parent
    return {
        file.stem: file
        for folder in (shared, shared.parent / database / "sql")
        for file in folder.rglob("*.sql")
    }


class Scripts:
    """The verbs of one database, read on first use."""

    def __init__(self, dialect: Dialect, schema: str | None = None) -> None:
        self.dialect = dialect
        self._schema = schema
        self._ready: dict[str, tuple[Statement, ...]] = {}

    def __getitem__(self, verb: str) -> tuple[Statement, ...]:
        if verb not in self._ready:
            self._ready[verb] = self.prepare(
                sql_files(self.dialect.folder)[verb].read_text("utf-8")
            )
        return self._ready[verb]

    def prepare(self, text: str) -> tuple[Statement, ...]:
        """Make statements of a file's text."""
        parts = [
            statement
            for part in _expand_lets(split(text))
            for statement in self.dialect.returning(part)
        ]
        marked = [part for part in parts if "-- answer" in part]
        answer = marked[0] if marked else parts[-1]
        return tuple(self._statement(part, answers=part is answer) for part in parts)

    def bind(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The driver's values for a verb's parameters, batches spread out."""
        bound: dict[str, Any] = {}
        for name, value in params.items():
            if name in BATCHES:
                value.check(name)
                bound.update(self.dialect.carry(name, BATCHES[name], value))
            else:
                bound[name] = self.dialect.value(value)
        return bound

    def _statement(self, part: str, *, answers: bool) -> Statement:
        text = uncommented(part)
        if self._schema:
            text = _TABLE.sub(f'"{self._schema}".windlass_', text)
        text = text.replace("%", "%%") if self.dialect.percent else text
        while _MACRO.search(text):  # from the inside out
            text = _MACRO.sub(self._macro, text)
        names: list[str] = []

        def place(match: re.Match[str]) -> str:
            name = match[1]
            if self.dialect.positional or name not in names:
                names.append(name)
            number = len(names) if self.dialect.positional else names.index(name) + 1
            return self.dialect.placeholder(number, name)

        text = _PARAMETER.sub(place, text)
        return Statement(text, tuple(names), answers)

    def _macro(self, match: re.Match[str]) -> str:
        name, argument = match[1], match[2] or ""
        if name == "now":
            return self.dialect.now
        if name in BATCHES:
            return self.dialect.table(name, BATCHES[name])
        return self.dialect.macros[name].replace("{}", argument)


def _expand_lets(parts: Iterable[str]) -> Iterator[str]:
    """The statements among the parts, with the names given by `-- let` replaced."""
    texts: dict[str, str] = {}
    for part in parts:
        spelled = _MACRO.sub(lambda match: texts.get(match[1], match[0]), part)
        if let := _LET.search(part):
            texts[let[1]] = f"({uncommented(spelled)})"
        else:
            yield spelled


def split(text: str) -> list[str]:
    """The statements of a file, in order."""
    parts = re.split(r";[ \t]*\n", text + "\n")
    return [part for part in parts if uncommented(part)]


def uncommented(part: str) -> str:
    """A part without its comments."""
    return "\n".join(
        line for line in part.splitlines() if not line.lstrip().startswith("--")
    ).strip()
