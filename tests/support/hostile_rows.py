"""A SQLite database in which every text is hostile: what a terminal or a browser might act on."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

#: A link, the clipboard, colours (5 and 45 are none of ours), the cursor, the title, line breaks,
#: directions, invisible characters, markup, a shell's characters.
HOSTILE = (
    "\x1b]8;;http:x\x1b\\\x1b]52;c;agk=\x07\x1b[5;45m\x9b2j\x9d0;t\x9c\rcr\nforged\ttab\x08\x7f\x85"
    "\u202e\u2066\u200e\u061c\u2028\u200b\ufeff\U000e0041[red][link=http:x]m[close]$(x)`x`'\";|&"
)
FORMULA = f"=1+1{HOSTILE}"
#: Columns whose values have a form of their own: ids, states, hashes, signatures, times, rules, counters.
_FORMED = re.compile(
    r"(.*_)?(id|hash|kind|state|outcome|level|role|gate|checksum|applied_at|type|origin)"
    r"|on_.*|.*_to|isolation|source|backoff|dedupe|runs_after|purpose|holder|status|policy|action"
    r"|doing|wanted|misfire|overlap|cron|timezone|condition|undo_of|rights|permissions|edited|code"
    r"|payload_schema|default_payload|body|query|changes|request_id|fingerprint|requires_permission|key|limit_key"
    r"|signature"
)
#: The second is a template: what it makes is a new name, and refused.
_FORMED_IN_ONE_TABLE = ("windlass_tokens.created_by", "windlass_triggers.dedupe_key")
#: Tables whose texts no command shows.
_UNSEEN = re.compile(r".*_(migrations|answers|log_words.*|limits|starts|holds|keys|links)")
#: Columns that other tables refer to: the same text everywhere.
_NAMES = ("definition", "queue", "tenant_id", "worker_id", "handler", "event_name")
_KEYS = ("windlass_definitions.key", "windlass_tenants.id", "windlass_workers.id")
_OBJECTS = ("metadata", "fields", "data", "result", "value_before", "value_after")
_LISTS = ("warnings", "tags", "queues", "definitions")
_WORKER = """
    INSERT INTO windlass_workers (id, hostname, pid, version, queues, definitions, slots, slots_used,
        lease_seconds, metadata, started_at, last_seen_at)
    SELECT 'worker', 'host', 1, '1', '[]', '[]', 1, 0, 30, '{}', created_at - 3600000000,
        created_at - 3600000000
    FROM windlass_ended LIMIT 1
"""


def poison(file: Path, text: str = HOSTILE) -> None:
    """Write hostile text into every column that has a text of its own, and add a worker."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(_WORKER)
        for table, column in list(_text_columns(database)):
            _poison(database, table, column, text)


def _text_columns(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if not _UNSEEN.fullmatch(table):
            for _, column, kind, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
                if kind == "TEXT":
                    yield table, column


def _poison(database: sqlite3.Connection, table: str, column: str, text: str) -> None:
    """Write hostile text into a column: appended to names, or instead of missing values."""
    place = f"{table}.{column}"
    if column == "payload":
        for row, payload in database.execute(f"SELECT id, payload FROM {table}").fetchall():
            value = json.dumps(dict.fromkeys(json.loads(payload), _formula(text)))
            database.execute(f"UPDATE {table} SET payload = ? WHERE id = ?", [value, row])
    elif column in _OBJECTS:
        value = json.dumps({text: _formula(text)})
        database.execute(f"UPDATE {table} SET {column} = ?", [value])
    elif column in _LISTS:
        database.execute(f"UPDATE {table} SET {column} = ?", [json.dumps([text])])
    elif column == "matches":
        database.execute(f"UPDATE {table} SET {column} = ?", [json.dumps([_match(text)])])
    elif column in _NAMES or place in _KEYS:
        # The default tenant keeps its name.
        kept = "default" if "tenant" in place else ""
        name = text.replace("\n", "") if "worker" in place else text
        change = f"UPDATE {table} SET {column} = {column} || ? WHERE {column} <> ?"
        database.execute(change, [name, kept])
    elif not _FORMED.fullmatch(column) and place not in _FORMED_IN_ONE_TABLE:
        change = f"UPDATE {table} SET {column} = coalesce({column} || ?, ? || hex(randomblob(4)))"
        database.execute(change, [text, _formula(text)])


def _match(text: str) -> dict[str, object]:
    """What a trigger made of an event."""
    return {
        "trigger_id": None,
        "trigger": text,
        "definition": text,
        "outcome": "failed",
        "job_id": None,
        "because": _formula(text),
    }


def _formula(text: str) -> str:
    return f"=1+1{text}"
