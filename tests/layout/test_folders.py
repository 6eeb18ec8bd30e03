"""Folders show the architecture: few entries each, and files of one idea."""

import ast

import pytest

from tests.layout.repository import ROOT, SOURCE, folders, name_of, python_files, tree_of

MOST_ENTRIES = 15
MOST_LINES = 400

#: A folder that may have more entries -> why.
CROWDED = {
    "src/windlass": "the layers themselves, and the few modules that every layer may import",
    "tests": "the layers, and the kinds of test that go across them",
    "src/windlass/storage/sql/jobs/operations": "the statements of one noun, one in each file",
    "benchmarks/questions": "one script for each question; there is no second grouping",
}
#: A file that may be longer -> why.
LONG = {
    "src/windlass/settings/tree.py": "the one table of settings, each documented where it stands",
    "src/windlass/api/schema/requests.py": "the request bodies, one small class after another",
    "src/windlass/api/schema/responses.py": "the response bodies, one small class after another",
    "src/windlass/engine/engine.py": "the one table of nouns, each built where it is first used",
    "src/windlass/app/windlass.py": "the public class: wiring, overloads and docstrings of its names",
    "src/windlass/app/nouns.py": "the nouns of the public class, one verb a line",
    "src/windlass/engine/triggers/triggers.py": "the verbs of one noun",
    "src/windlass/storage/leases/leases.py": "the verbs on a lease, in the order of its life",
    "src/windlass/api/jobs/jobs.py": "the routes of one noun, each a few lines",
    "tests/app/test_windlass.py": "the promises of one class, in the order of its methods",
    "tests/app/triggers/test_triggers.py": "the promises of one class, in the order of its methods",
    "tests/testing/test_windlass.py": "the promises of one class, in the order of its methods",
    "tests/worker/test_worker.py": "the promises of one class, in the order of its methods",
    "tests/api/jobs/test_enqueue_rights.py": "one table of routes, and the tests that read it",
    "tests/api/leases/test_http_workers.py": "the protocol of HTTP workers, route by route",
    "tests/support/processes/shell.py": "one command line for tests, verb by verb",
    "tests/core/definitions/test_argv.py": "one grammar, case by case",
    "tests/core/payloads/test_payload.py": "one codec, case by case",
    "tests/core/triggers/test_cron.py": "one grammar, case by case",
    "tests/errors/test_errors.py": "one table of errors, and the tests that read it",
    "tests/mutants/leases.py": "a table of planted bugs",
    "tests/settings/test_settings.py": "one loader, source by source",
}


@pytest.mark.parametrize("top", ["src/windlass", "tests", "benchmarks", "examples", "ui/src"])
def test_a_folder_has_at_most_fifteen_entries_or_a_reason(top):
    crowded = {name for name, entries in folders(top) if len(entries) > MOST_ENTRIES}

    assert crowded - CROWDED.keys() == set()


def test_a_file_has_at_most_400_lines_or_a_reason():
    files = python_files("src", "tests", "benchmarks", "examples", "docs")
    long = {
        name_of(file) for file in files if len(file.read_text("utf-8").splitlines()) > MOST_LINES
    }

    assert long == LONG.keys()


def test_a_file_of_the_dashboard_has_at_most_400_lines():
    files = {
        *(ROOT / "ui/src").rglob("*.ts"), *(ROOT / "ui/src").rglob("*.tsx"),
    } - {ROOT / "ui/src/api/schema.d.ts"}  # fmt: skip

    assert [
        name_of(file) for file in files if len(file.read_text("utf-8").splitlines()) > MOST_LINES
    ] == []


def test_every_reason_is_for_something_that_is_there():
    assert [name for name in [*CROWDED, *LONG] if not (ROOT / name).exists()] == []


def test_every_package_says_in_one_line_what_it_holds():
    told = {
        name_of(file): ast.get_docstring(tree_of(file)) or ""
        for file in SOURCE.rglob("__init__.py")
    }

    assert [name for name, text in told.items() if not text] == []
    below = {name: text for name, text in told.items() if name.count("/") > 3}
    assert [name for name, text in below.items() if len(text.splitlines()) > 1] == []
