"""Runs the statements of a file on one connection, and no more of them than are needed.

Many statements are there for the few calls that have a key, a child or another try in them. They
begin with a condition on a note that an earlier statement took. Callers' connections run them all,
and the server finds the condition false at once; here such a statement is not sent at all.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import cached_text
from windlass.storage.sql.statements import Rows, Statement

_TAKES_NOTE = re.compile(r"\binto (@windlass_\w+)\b")
_MARKED = re.compile(r"""locate\('("\w+")', (@windlass_\w+)\) > 0""")
_NOT_EMPTY = re.compile(r"(@windlass_\w+) <> '\[\]'")
_GIVEN = re.compile(r"%\((\w+)\)s <> '\[\]'")
_EMPTY = "[]"

#: Verbs whose answer an earlier note has in full: its name, and an entry of it as a row.
_ANSWERS: Mapping[str, tuple[str, Callable[[list[Any]], Mapping[str, Any]]]] = {
    "finish": (
        "@windlass_ending",
        lambda entry: {"id": entry[0], "state": entry[1], "lease_token": entry[4]},
    ),
    "enqueue": (
        "@windlass_input",
        lambda entry: {"id": entry[1], "status": entry[2] or "created", "existing_id": None},
    ),
}


@dataclass(frozen=True, slots=True)
class ScriptTraits:
    """The conditions in a statement's text, before any value is in it, under which it is needed."""

    takes: str | None
    marked: Sequence[tuple[str, str]]
    not_empty: Sequence[str]
    given: Sequence[str]

    @classmethod
    def of(cls, text: str) -> "ScriptTraits":
        takes = _TAKES_NOTE.search(text)
        return cls(
            takes[1] if takes else None,
            _MARKED.findall(text),
            _NOT_EMPTY.findall(text),
            # A note is taken also where it only says that there was nothing.
            [] if takes else _GIVEN.findall(text),
        )

    @property
    def notes(self) -> set[str]:
        return {*self.not_empty, *(note for _, note in self.marked)}

    def needed(self, notes: Mapping[str, str], values: Mapping[str, Any]) -> bool:
        return (
            all(mark in notes[note] for mark, note in self.marked)
            and all(notes[note] != _EMPTY for note in self.not_empty)
            and all(values[name] != _EMPTY for name in self.given)
        )


def run(
    link: MysqlConnection, verb: str, script: Sequence[Statement], values: Mapping[str, Any]
) -> Rows:
    """Run a script in the open transaction; the rows of the statement that answers."""
    noted = _ANSWERS.get(verb)
    traits = [_traits(statement.text) for statement in script]
    heeded = {note for trait in traits for note in trait.notes}
    keep, texts = cached_text(script, values)
    if keep:
        link.query(keep)
    notes: dict[str, str] = {}
    answer: Rows = []
    for statement, trait in zip(script, traits, strict=True):
        if statement.answers and noted:
            note, row = noted
            answer = [row(entry) for entry in json.loads(notes[note])]
            continue
        if not trait.needed(notes, values):
            if trait.takes and trait.takes not in notes:
                notes[trait.takes] = _EMPTY
            continue
        found = link.query(statement.text % texts)
        if trait.takes in heeded:
            notes[trait.takes] = _read(link, trait.takes)
        if statement.answers:
            answer = found
    return answer


@lru_cache(maxsize=500)
def _traits(text: str) -> ScriptTraits:
    return ScriptTraits.of(text)


def _read(link: MysqlConnection, note: str) -> str:
    [row] = link.query(f"select convert({note} using utf8mb4) as note")
    return str(row["note"])
