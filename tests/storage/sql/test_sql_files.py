"""The SQL files: each statement exists once, is short enough to read, and states its promise."""

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest

from windlass.storage.mysql import dialect as mysql
from windlass.storage.postgres import dialect as postgres
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Dialect, Scripts, sql_files, uncommented
from windlass.storage.sqlite import dialect as sqlite

STORAGE = Path(str(files("windlass.storage")))
DATABASES = ("postgres", "mysql", "sqlite")
DIALECTS = {
    "postgres": postgres.driver_dialect(),
    "postgres, a caller's": postgres.caller_dialect("%s"),
    "mysql": mysql.driver_dialect(),
    "mysql, a caller's": mysql.caller_dialect("%s"),
    "sqlite": sqlite.driver_dialect(),
    "sqlite, a caller's": sqlite.caller_dialect("?"),
}
MOST_FILES = 400
LONGEST_LINE = 100

_CAST = re.compile(r"cast\(([^()]*) as [a-z ]+(?:\[\])?\)")
_MACRO = re.compile(r"\{(?:text|uuid|int|bigint|float|bool|time|json|name) ([^{}]*)\}")


def statement_files() -> list[Path]:
    return sorted(
        path for path in STORAGE.rglob("*.sql") if "sql" in path.relative_to(STORAGE).parts[:2]
    )


def normalized(text: str) -> str:
    """A file's text without what the databases spell differently: comments, whitespace, case,
    casts, back-ticks."""
    plain = uncommented(text).lower().replace("`", "")
    for spelled in (_CAST, _MACRO):
        while spelled.search(plain):
            plain = spelled.sub(r"\1", plain)
    return re.sub(r"\s*([(),;])\s*", r"\1", " ".join(plain.split()))


def repeated(verbs: dict[str, list[Path]]) -> Iterator[str]:
    for verb, paths in verbs.items():
        for one, other in combinations(paths, 2):
            if normalized(one.read_text("utf-8")) == normalized(other.read_text("utf-8")):
                yield f"{verb}: {one.relative_to(STORAGE)} and {other.relative_to(STORAGE)}"


def test_rows_locked_up_to_a_limit_are_chosen_once():
    """A subquery of `in` may run once per row, and then locks other rows each time."""
    chosen_again = re.compile(r"\bin\(select[^()]*limit[^()]*skip locked\)")

    assert not [
        path.relative_to(STORAGE)
        for path in statement_files()
        if chosen_again.search(re.sub(r"\s*([()])\s*", r"\1", path.read_text("utf-8").lower()))
    ]


def test_no_statement_is_in_two_files():
    verbs: dict[str, list[Path]] = {}
    for path in statement_files():
        verbs.setdefault(path.stem, []).append(path)

    assert list(repeated(verbs)) == []


def test_normalizing_ignores_the_dialect():
    ours = "-- One.\nselect `key` from t where (:x is null or id = cast(:x as uuid))"
    theirs = "-- Two.\nSELECT key FROM t\nWHERE ( :x is null or id = {uuid :x} )"

    assert normalized(ours) == normalized(theirs) != normalized("select key from t")


def test_there_are_few_enough_files_to_read():
    counted = [path for path in STORAGE.rglob("*.sql") if "migrations" not in path.parts]

    assert len(counted) <= MOST_FILES


def test_a_verb_is_in_the_same_area_on_every_database():
    areas: dict[str, set[Path]] = {}
    for path in statement_files():
        top = STORAGE / "sql" if path.is_relative_to(STORAGE / "sql") else None
        folder = top or STORAGE / path.relative_to(STORAGE).parts[0] / "sql"
        areas.setdefault(path.stem, set()).add(path.parent.relative_to(folder))

    assert {verb: found for verb, found in areas.items() if len(found) > 1} == {}


def test_a_shared_file_that_every_database_replaces_does_not_exist():
    for path in (STORAGE / "sql").rglob("*.sql"):
        own = [name for name in DATABASES if list((STORAGE / name).rglob(f"sql/**/{path.name}"))]
        assert len(own) < len(DATABASES) - 1, path


def test_no_line_is_longer_than_the_limit():
    long = [
        f"{path.relative_to(STORAGE)}:{number}"
        for path in sorted(STORAGE.rglob("*.sql"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE and "migrations" not in path.parts
    ]

    assert long == []


def test_every_file_begins_with_its_promise():
    for path in statement_files():
        first = path.read_text("utf-8").splitlines()[0]
        assert re.match(r"-- [A-Z].{8,}", first), path


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_every_macro_is_known_to_every_dialect(dialect: Dialect):
    scripts = Scripts(dialect)

    for verb in sql_files(dialect.folder):
        for statement in scripts[verb]:
            assert not re.search(r"\{[a-z_]+( [^{}]*)?\}", statement.text), verb
    assert not dialect.macros.keys() & BATCHES.keys()


def test_mariadb_reads_the_rows_that_an_update_returns_before_it_changes_them():
    text = "update windlass_users\nset password_hash = :hash\nwhere id = :id\nreturning id\n"

    read, change = Scripts(mysql.driver_dialect()).prepare(text)

    assert (read.answers, change.answers) == (True, False)
    assert (
        " ".join(read.text.split()) == "select id from windlass_users where id = %(id)s for update"
    )
    assert change.text.endswith("where id = %(id)s")


@pytest.mark.parametrize(
    "text",
    [
        "delete from windlass_live where id in (select id from {ids} i)",
        "select 1 as returning_soon",
    ],
)
def test_mariadb_runs_statements_without_returning_unchanged(text):
    [statement] = Scripts(mysql.caller_dialect("%s")).prepare(text)

    assert "for update" not in statement.text
