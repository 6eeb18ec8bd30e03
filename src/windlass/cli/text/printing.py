"""The only module of the command line that writes to stdout and stderr.

Commands print text of tenants, handlers and other programs. In every command's output, a character
that does not print becomes visible here (`\x1b`, `\u202e`). Only line breaks between lines, and
colours made by `paint`, reach a terminal unchanged.
"""

import os
import re
import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import click

from windlass.core.payloads.json_text import printable_json
from windlass.errors.wording import printable

if TYPE_CHECKING:
    from rich.console import Console

#: Marks the colours of `paint` until a line is written. Random: no text from outside contains it.
_MARK = f"\x1b{os.urandom(8).hex()}"
_RESET = "\x1b[0m"
_PAINTED = re.compile(re.escape(_MARK) + r"(\[[0-9;]+m)")


def paint(text: str, color: str = "", *, bold: bool = False, dim: bool = False) -> str:
    """Colour a text that becomes part of a line; `visible` turns the marks into the colour."""
    codes = click.style("", fg=color or None, bold=bold or None, dim=dim or None, reset=False)
    return f"{_mark_codes(codes)}{text}{_mark_codes(_RESET)}"


def visible(line: str) -> str:
    """Make every character of a line printable, except the colours of `paint`."""
    parts = _PAINTED.split(line)
    parts[::2] = map(printable, parts[::2])
    parts[1::2] = (f"\x1b{code}" for code in parts[1::2])
    return "".join(parts)


def write_line(line: str, stream: IO[str] | None = None) -> None:
    """Write one line to stdout, or to the stream given."""
    print(visible(line), file=stream or sys.stdout, flush=True)


def write_lines(lines: Iterable[str], stream: IO[str] | None = None) -> None:
    """Write several lines at once."""
    print("\n".join(map(visible, lines)), file=stream or sys.stdout, flush=True)


def write_row(cells: Iterable[str]) -> None:
    """Write cells to stdout with tabs between them."""
    print("\t".join(map(visible, cells)), flush=True)  # noqa: T201


def write_json(text: str) -> None:
    """Write a JSON document to stdout, with escapes for what does not print."""
    print(printable_json(text), flush=True)  # noqa: T201


def overwrite(line: str, width: int) -> None:
    """Overwrite the current line on stderr, cut to a width."""
    print(f"\r\x1b[K{visible(line)[: width - 1]}", end="", file=sys.stderr, flush=True)  # noqa: T201


def confirm(question: str) -> None:
    """Ask yes or no on stderr; raises click.Abort unless the response is yes."""
    click.confirm(visible(question), abort=True, err=True)


def prompt(question: str, **options: Any) -> str:
    """Prompt for a text on stderr; `options` are those of click.prompt."""
    return str(click.prompt(visible(question), err=True, **options))


def console(*, colored: bool) -> "Console":
    """A rich console on stdout for tables and screens, in which every character prints."""
    # Importing Rich takes longer than fetching most lists: only commands that draw import it.
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class PrintableConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text = "\n".join(map(printable, segment.text.split("\n")))
                yield segment if segment.control else Segment(text, segment.style)

    return PrintableConsole(
        file=sys.stdout,
        force_terminal=True if colored else None,
        no_color=not colored,
        color_system="standard" if colored else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _mark_codes(codes: str) -> str:
    return codes.replace("\x1b[", f"{_MARK}[")
