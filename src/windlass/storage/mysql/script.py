"""Runs the statements of a file on one connection, skipping those that are not needed.

Many statements only matter to the few calls with a key, a child or a retry. They begin with a
condition on a note, a variable that an earlier statement set. Callers' connections run them all,
and the server finds the condition false at once; here such a statement is not sent.
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

#: Verbs whose result is complete in an earlier note: its name, and how an entry becomes a row.
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
    """The conditions under which a statement is needed, from its text without values."""

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
            # A statement that sets a note runs even for an empty batch: others read the note.
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
    """Run a script in the open transaction; returns the rows of the statement marked `answer`."""
    from_note = _ANSWERS.get(verb)
    traits = [_traits(statement.text) for statement in script]
    needed_notes = {note for trait in traits for note in trait.notes}
    keep, texts = cached_text(script, values)
    if keep:
        link.query(keep)
    notes: dict[str, str] = {}
    result: Rows = []
    for statement, trait in zip(script, traits, strict=True):
        if statement.answers and from_note:
            note, row = from_note
            result = [row(entry) for entry in json.loads(notes[note])]
            continue
        if not trait.needed(notes, values):
            if trait.takes and trait.takes not in notes:
                notes[trait.takes] = _EMPTY
            continue
        found = link.query(statement.text % texts)
        if trait.takes in needed_notes:
            notes[trait.takes] = _read(link, trait.takes)
        if statement.answers:
            result = found
    return result


@lru_cache(maxsize=500)
def _traits(text: str) -> ScriptTraits:
    return ScriptTraits.of(text)


def _read(link: MysqlConnection, note: str) -> str:
    [row] = link.query(f"select convert({note} using utf8mb4) as note")
    return str(row["note"])
