"""Every command on a database in which every text contains terminal control sequences.

The names in it are older than the rule that refuses such names: they keep working, and are shown
with escapes.
"""

import csv
import io
import re
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.framework.command_lines import LINES, There, furnish
from tests.support.hostile_rows import FORMULA, HOSTILE, poison
from tests.support.processes.shell import Done, Shell
from windlass.errors.wording import printable

# A hundred processes each, on a machine that has other things to do.
pytestmark = pytest.mark.timeout(400)

#: Names that commands take; here with hostile text appended.
_WORDS = (
    "hello",
    "fail",
    "hourly",
    "seen",
    "declared",
    "default",
    "acme",
    "ada",
    "lin",
    "shop",
    "made",
)
_ORDERS = ("workers drain", "workers resume", "workers stop")
#: Commands that only read.
_READING = {
    *("list", "show", "attempts", "history", "logs", "graph", "explain", "export", "groups"),
    *("search", "status", "verify", "contexts", "top", "whoami"),
}
#: Why some end otherwise: the worker is lost, and no order reaches it; a reset gave the schedule the
#: name its code says; a clone's queue and an invited name are new names, and refused; the audit was
#: changed.
_ENDS = {
    "db check": 1,  # it names what was written here past the product
    "doctor": 1,
    "audit verify": 1,
    "triggers reset": 3,
    "jobs clone": 2,
    "members invite": 2,
    **dict.fromkeys(_ORDERS, 5),
}
#: Our own sequences: colours, and clearing the line of a progress bar.
_OURS = re.compile(r"\r\x1b\[K|\x1b\[(0|1|2|7|3[0-7]|9[0-7])(;(0|1|2|7|3[0-7]|9[0-7]))*m")


#: Rich's sequences for entering, drawing and leaving its screen.
_SCREEN = re.compile(r"\x1b\[(\?1049[hl]|\?25[hl]|H|2J|\d+A|2K|1A)|\r")


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a database with hostile text for every command."""
    shell = Shell(tmp_path_factory.mktemp("hostile"))
    furnish(shell)
    shell.here("enqueue", "wait_for", "file=jobs.py")
    shell.ok("worker", "jobs.py", "--drain")
    shell.here("queues", "pause", "default")
    poison(shell.folder / "windlass.db")
    yield shell.folder
    shell.close()


@pytest.fixture
def shell(hostile_folder: Path, tmp_path: Path) -> Iterator[Shell]:
    """A shell in a copy of that folder."""
    shutil.copytree(hostile_folder, tmp_path, dirs_exist_ok=True)
    shell = Shell(tmp_path)
    yield shell
    shell.close()


def test_no_command_lets_hostile_text_through_to_a_terminal(shell: Shell):
    found = [
        (typed, shell.at_terminal(*typed.args, types=typed.answer, COLUMNS="200"))
        for typed in _commands(shell)
    ]

    assert _failed(found) == []
    assert _raw(found) == {}


def test_no_command_lets_hostile_text_through_to_a_pipe(shell: Shell):
    found = [(typed, shell.run(*typed.args, "--yes")) for typed in _commands(shell)]

    assert _failed(found) == []
    assert _raw(found) == {}


@pytest.mark.parametrize("command", ["logs", "events"])
def test_no_tail_lets_hostile_text_through(shell: Shell, command: str):
    seated = shell.sit_at(command, "tail", "--lines", "5")

    seated.sees(re.escape(printable(HOSTILE)))
    seated.interrupt(lambda: seated.process.poll() is not None)

    # The terminal itself echoes the interrupt key.
    assert [line for line in seated.text.replace("^C", "").split("\n") if _is_raw(line)] == []


def test_no_page_of_top_lets_hostile_text_through(shell: Shell):
    pages = {
        "overview": "q",
        "job": "\rq",
        "log": "\rlq",
        "queues": ":queues\rq",
        "workers": ":workers\rq",
    }

    shown = {
        page: _SCREEN.sub("", shell.at_terminal("top", types=keys, width=160).out)
        for page, keys in pages.items()
    }

    raw = [ascii(line) for text in shown.values() for line in text.split("\n") if _is_raw(line)]
    assert raw == []
    assert all("hello\\x1b" in text for text in shown.values())


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_no_format_lets_hostile_text_through(shell: Shell, form: str):
    reading = [typed for typed in _commands(shell) if {*typed.args[:2]} & _READING]

    found = [(typed, shell.run(*typed.args, "-o", form)) for typed in reading]

    assert _failed(found) == []
    assert _raw(found) == {}


def test_json_reads_back_equal(shell: Shell):
    there = _there(shell)

    job = shell.ok("jobs", "show", there["job"], "--json").json
    dead = shell.ok("jobs", "show", there["dead"], "--json").json

    assert (job["definition"], job["payload"]) == (f"hello{HOSTILE}", {"name": FORMULA})
    assert dead["last_error"] == f"ValueError: no reason{HOSTILE}"


def test_no_cell_of_csv_starts_a_formula(shell: Shell):
    lists = [typed for typed in _commands(shell) if typed.args[1:2] in (["list"], ["show"])]

    for typed in lists:
        out = shell.ok(*typed.args, "-o", "csv").out
        for row in csv.reader(io.StringIO(out), strict=True):
            texts = [cell for cell in row if not re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", cell)]
            assert [cell for cell in texts if cell.lstrip()[:1] in tuple("=+-@")] == []


class Typed(NamedTuple):
    """A command line, the input at its question, and its exit code."""

    args: list[str]
    answer: str
    code: int


def _commands(shell: Shell) -> Iterator[Typed]:
    """All commands of the table, with hostile names."""
    there = _there(shell)
    for name, line in LINES.items():
        words = (part.format_map(there) for part in shlex.split(line.args))
        # Such a name cannot be typed: the escaped name is accepted too.
        answer = printable(_hostile(line.answer.strip())) + "\n"
        args = [*name.split(), *map(_hostile, words)]
        yield Typed(args, answer if line.answer else "", _ENDS.get(name, line.code))


def _hostile(word: str) -> str:
    return f"{word}{HOSTILE}" if word in _WORDS else word


def _there(shell: Shell) -> There:
    kinds = {
        "job": "SELECT id FROM windlass_later",
        "done": "SELECT id FROM windlass_ended WHERE state = 'completed'",
        "dead": "SELECT id FROM windlass_ended WHERE state = 'dead_letter'",
        "group": "SELECT fingerprint FROM windlass_ended WHERE fingerprint IS NOT NULL",
        "event": "SELECT id FROM windlass_events",
        "worker": "SELECT id FROM windlass_workers",
    }
    with closing(sqlite3.connect(shell.folder / "windlass.db")) as database:
        found = {kind: database.execute(query).fetchall() for kind, query in kinds.items()}
    return There({kind: cycle([value for (value,) in rows]) for kind, rows in found.items()})


def _failed(found: list[tuple[Typed, Done]]) -> list[str]:
    """The commands that a hostile name breaks, and their output."""
    return [
        f"{shlex.join(typed.args)} -> {done.code}: {done.out[-300:]} {done.err}"
        for typed, done in found
        if done.code != typed.code
    ]


def _raw(found: list[tuple[Typed, Done]]) -> dict[str, str]:
    """The commands that print control sequences or a forged line, and that line."""
    return {
        _spelled(typed): ascii(line)
        for typed, done in found
        for line in f"{done.out}\n{done.err}".split("\n")
        if _is_raw(line)
    }


def _is_raw(line: str) -> bool:
    cells = _OURS.sub("", line).split("\t")
    return cells != list(map(printable, cells)) or cells[0].startswith("forged")


def _spelled(typed: Typed) -> str:
    return printable(shlex.join(typed.args))
