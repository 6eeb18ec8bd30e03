"""Runs the statements of a file on one connection, and no more of them than are needed.

Many statements are there for the few calls that have a key, a child or another try in them. They
begin with a condition on a note that an earlier statement took. Callers' connections run them all,
and the server finds the condition false at once; here such a statement is not sent at all.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windlass.storage.mysql.link import Link
from windlass.storage.mysql.literal import filled_script
from windlass.storage.sql import Rows, Statement

_TAKES_NOTE = re.compile(r"\binto (@windlass_\w+)\b")
_MARKED = re.compile(r"""locate\('("\w+")', (@windlass_\w+)\) > 0""")
_NOT_EMPTY = re.compile(r"(@windlass_\w+) <> '\[\]'")
_EMPTY = "[]"
#: How a condition on a batch that is empty reads.
_NOTHING_GIVEN = "'[]' <> '[]'"

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


def run(link: Link, verb: str, script: Sequence[Statement], values: Mapping[str, Any]) -> Rows:
    """Run a script in the open transaction; the rows of the statement that answers."""
    noted = _ANSWERS.get(verb)
    texts, answers = filled_script(script, values), [statement.answers for statement in script]
    answers = [False] * (len(texts) - len(script)) + answers
    guards = {note for text in texts for note in _guards(text)}
    notes: dict[str, str] = {}
    answer: Rows = []
    for text, answering in zip(texts, answers, strict=True):
        if answering and noted:
            note, row = noted
            answer = [row(entry) for entry in json.loads(notes[note])]
            continue
        taken = _TAKES_NOTE.findall(text)
        if not _wanted(text, notes):
            notes |= {note: _EMPTY for note in taken if note not in _guards(text)}
            continue
        found = link.query(text)
        notes |= {note: _read(link, note) for note in taken if note in guards}
        if answering:
            answer = found
    return answer


def _guards(text: str) -> set[str]:
    return {note for _, note in _MARKED.findall(text)} | set(_NOT_EMPTY.findall(text))


def _wanted(text: str, notes: Mapping[str, str]) -> bool:
    if _NOTHING_GIVEN in text and not _TAKES_NOTE.search(text):
        return False
    return all(mark in notes[note] for mark, note in _MARKED.findall(text)) and all(
        notes[note] != _EMPTY for note in _NOT_EMPTY.findall(text)
    )


def _read(link: Link, note: str) -> str:
    [row] = link.query(f"select convert({note} using utf8mb4) as note")
    return str(row["note"])
