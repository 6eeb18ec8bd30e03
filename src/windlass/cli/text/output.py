"""Output of commands: data on stdout, messages on stderr.

A person at a terminal gets aligned tables with relative times, cut to the width. A program gets
tab-separated values, ISO times and nothing cut, or the format it requested.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from windlass import clock
from windlass.cli.framework.flags import Flags
from windlass.cli.text.printing import (
    console,
    overwrite,
    paint,
    write_json,
    write_line,
    write_lines,
    write_row,
)
from windlass.cli.text.styles import StateLabel, ago, moment
from windlass.core.payloads.json_text import printable_json
from windlass.errors import CommandInvalid
from windlass.errors.wording import listed, nearest, printable, quoted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Item = Mapping[str, Any]

#: Spaces between two columns of a table.
_GAP = 2
#: Spreadsheets run a cell that starts like this; some skip quotes and spaces before it.
_FORMULA = re.compile(r"[\s'\"]*[=+\-@\t\r＝＋－＠]")
#: The smallest width of a wide column.
_NARROWEST = 12


@dataclass(frozen=True, slots=True)
class Column:
    """A field of a list. `show` formats it for a person; without it only programs get the field.

    On a narrow terminal, `wide` columns are cut, and spare columns are left out: the most easily
    spared first.
    """

    key: str
    title: str = ""
    show: Callable[[Item], str | StateLabel] | None = None
    wide: bool = False
    right: bool = False
    spare: int = 0


class Output:
    def __init__(self, flags: Flags) -> None:
        self._flags = flags
        self._terminals: dict[IO[str], bool] = {}

    @cached_property
    def human(self) -> bool:
        """True on a terminal, or when colour is forced."""
        return sys.stdout.isatty() or self._flags.color == "always"

    @cached_property
    def format(self) -> str:
        """The format in force; by default `people` on a terminal, `tsv` in a pipe."""
        if self._flags.format != "table":
            return self._flags.format
        return "people" if self.human else "tsv"

    @property
    def can_ask(self) -> bool:
        """True if a person can respond to a question."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def colored(self, stream: IO[str]) -> bool:
        """True if text on a stream may have colour."""
        if self._flags.color != "auto":
            return self._flags.color == "always"
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        # Keep the first result: output held back for a terminal looks as if it was not.
        return self._terminals.setdefault(stream, stream.isatty()) and not plain

    def style(self, text: str, color: str = "", *, bold: bool = False, dim: bool = False) -> str:
        """Colour text for stdout, if colour is allowed."""
        return paint(text, color, bold=bold, dim=dim) if self.colored(sys.stdout) else text

    def say(self, text: str) -> None:
        """Print a one-line message to stderr, unless --quiet. A closed stderr is ignored."""
        if not self._flags.quiet:
            with suppress(OSError):  # the reader is gone; the work continues
                write_line(text, sys.stderr)

    def hint(self, text: str) -> None:
        """Print the next step, for a person only."""
        if sys.stderr.isatty() and self.human:
            dim = self.colored(sys.stderr)
            self.say(paint(f"→ {text}", dim=True) if dim else f"→ {text}")

    @cached_property
    def draws(self) -> bool:
        """True if a line on stderr can be overwritten."""
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not self._flags.quiet

    def draw(self, text: str) -> None:
        """Replace the last drawn line on stderr; an empty text clears it."""
        overwrite(text, shutil.get_terminal_size().columns)

    def data(self, text: str) -> None:
        """Print a line of data; line breaks in it are escaped."""
        write_line(text)

    def block(self, text: str, indent: str = "") -> None:
        """Print several lines of data, each indented."""
        write_lines(f"{indent}{line}" for line in text.split("\n"))

    def row(self, values: Iterable[object]) -> None:
        """Print a line of tab-separated values."""
        write_row(map(_tsv, values))

    def json(self, value: object) -> None:
        """Print a JSON document; one line for jsonl."""
        if self.format == "jsonl":
            self.json_line(value)
        else:
            write_json(json.dumps(value, ensure_ascii=False, indent=2))

    def json_line(self, value: object) -> None:
        """Print a JSON document on one line, whatever the format."""
        write_json(json.dumps(value, ensure_ascii=False))

    def list(
        self, items: Sequence[Item], columns: Sequence[Column], *, body: object = None
    ) -> None:
        """Print a list in the format in force. `body` is the JSON document, by default the items
        alone."""
        first, columns = columns[0].key, self._select_columns(columns)
        match self.format:
            case "json":
                self.json(items if body is None else body)
            case "jsonl":
                for item in items:
                    self.json(item)
            case "csv":
                self._csv(items, columns)
            case "id":
                for item in items:
                    self.data(cell(item[first]))
            case "tsv":
                self.row(column.key for column in columns)
                for item in items:
                    self.row(item.get(column.key) for column in columns)
            case _:
                self._table(items, columns)

    def one(self, item: Item, show: Callable[[], None], *, key: str = "id") -> None:
        """Print one thing in the format in force; `show` prints it for a person."""
        match self.format:
            case "json" | "jsonl":
                self.json(item)
            case "csv":
                self._csv([item], [Column(name) for name in item])
            case "id":
                self.data(cell(item[key]))
            case "tsv":
                for name, value in item.items():
                    self.row([name, value])
            case _:
                show()

    def print_dry_run(self, would: str, request: Item) -> None:
        """Print what a command would have done; programs that read JSON get the request."""
        text = f"Would {would}. Nothing was changed."
        if self.format in ("people", "tsv"):
            self.data(text)
            return
        if self.format in ("json", "jsonl"):
            self.json({"would": would, **request})
        self.say(text)

    def facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Print labels and values in two columns, for a person; empty values are left out."""
        known = [(label, value) for label, value in facts if value]
        width = max((len(label) for label, _ in known), default=0)
        for label, value in known:
            first, *more = value.rstrip().split("\n")
            self.data(f"{self.style(f'{label:<{width}}', dim=True)}  {first}")
            for line in more:
                self.data(f"{'':{width}}  {line}")

    def look(self, look: StateLabel) -> str:
        """A state's label for a person, coloured."""
        return self.style(str(look), look.color)

    def when(self, text: str | None) -> str:
        """An instant for a person: how long ago, and the clock time."""
        at = moment(text)
        return f"{ago(at, clock.utcnow())} ({self.clock_time(at)})" if at else ""

    def clock_time(self, at: datetime) -> str:
        """An instant as local time, or UTC with --utc."""
        if self._flags.utc:
            return f"{at:%Y-%m-%d %H:%M:%S} UTC"
        return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"

    def _select_columns(self, columns: Sequence[Column]) -> Sequence[Column]:
        """The columns that --columns names, in its order; a person may name those for programs
        too."""
        if self._flags.columns is None:
            return columns
        known = {column.key: column for column in columns}
        names = [name.strip() for name in self._flags.columns.split(",") if name.strip()]
        for name in names:
            if name not in known:
                near = nearest(name, known)
                raise CommandInvalid(
                    f"this list has no column {quoted(name)}.",
                    hint=(f"Did you mean `{near}`? " if near else "")
                    + f"It has {listed(list(known))}.",
                )
        return [_full_width(known[name]) for name in names] or columns

    def _csv(self, items: Sequence[Item], columns: Sequence[Column]) -> None:
        import csv
        import io

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_csv(column.key) for column in columns])
        writer.writerows([[_csv(item.get(column.key)) for column in columns] for item in items])
        self.block(text.getvalue().removesuffix("\n"))

    def console(self) -> "Console":
        """The console for tables and screens: stdout, with colour if allowed."""
        return console(colored=self.colored(sys.stdout))

    def _table(self, items: Sequence[Item], columns: Sequence[Column]) -> None:
        if items:
            drawing = self.console()
            drawing.print(table(items, columns, drawing.width))


def table(
    items: Sequence[Item], columns: Sequence[Column], width: int, *, chosen: int | None = None
) -> "Table":
    """A list as a table for a person, cut to a width: one line per item; the chosen one stands
    out."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    visible = _fit_columns(items, [column for column in columns if column.show], width)
    for column in visible:
        # A no-wrap cell in a column that may wrap: cut instead of wrapped, and cut first.
        drawn.add_column(
            column.title,
            no_wrap=not column.wide,
            overflow="ellipsis",
            justify="right" if column.right else "left",
            min_width=_NARROWEST if column.wide else None,
        )
    for place, item in enumerate(items):
        shown = [column.show(item) for column in visible if column.show]
        drawn.add_row(
            *(
                Text(printable(str(value)), no_wrap=True, overflow="ellipsis", style=_color(value))
                for value in shown
            ),
            style="reverse" if place == chosen else None,
        )
    return drawn


def cell(value: object) -> str:
    """A value in a column, as programs read it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _full_width(column: Column) -> Column:
    """A column that the person named: it is not left out, however narrow the terminal."""
    key = column.key
    show = column.show or (lambda item: cell(item.get(key)))
    title = column.title or key.replace("_", " ").upper()
    return replace(column, title=title, show=show, spare=0)


def _fit_columns(items: Sequence[Item], columns: Sequence[Column], width: int) -> Sequence[Column]:
    """The columns that fit side by side; wide ones are cut down to a readable width."""
    needed = {}
    for column in columns:
        longest = max(
            [
                len(column.title),
                *(len(printable(str(column.show(i)))) for i in items if column.show),
            ]
        )
        needed[column.key] = _GAP + (min(longest, _NARROWEST) if column.wide else longest)
    fitting = list(columns)
    while sum(needed[column.key] for column in fitting) > width:
        dropped = max(fitting, key=lambda column: column.spare)
        if not dropped.spare:
            break
        fitting.remove(dropped)
    return fitting


def _tsv(value: object) -> str:
    # Doubled, so that a program can distinguish a backslash from an escaped tab or line break.
    return cell(value).replace("\\", "\\\\")


def _csv(value: object) -> str:
    """A CSV cell on one line. Text that a spreadsheet would run as a formula gets an apostrophe."""
    if not isinstance(value, str):
        return printable_json(cell(value))
    return printable(f"'{value}" if _FORMULA.match(value) else value)


def _color(value: str | StateLabel) -> str:
    return value.color if isinstance(value, StateLabel) else ""
