"""Names that mean one thing, and docstrings that start with the thing they describe."""

import ast
from collections import defaultdict

from tests.layout.repository import SOURCE, name_of, python_files, tree_of

MOST_SHARED = 15
#: Nouns that name the same thing in two layers -> which. At most fifteen.
SHARED = {
    "Windlass": "the app, async and blocking",
    "Jobs": "the jobs as the engine serves them, and the blocking face of that",
    "Definitions": "the same of definitions",
    "Triggers": "the same of triggers",
    "Queues": "the same of queues",
    "Workers": "the same of workers",
    "Tenants": "the same of tenants",
    "Events": "the same of events",
    "Audit": "the same of the audit",
    "Logs": "the same of logs",
    "JobHandle": "a job in a program's hands, async and blocking",
    "JobPage": "a page of jobs, with handles in a program",
    "Receipt": "what enqueue returns, and its JSON",
    "NewJob": "a job to be stored, and the JSON that asks for one",
    "Lease": "a worker's hold on a job, and the JSON that names one",
}
#: How a docstring does not begin: the reader would not know what it is about.
_RIDDLES = {"What", "Whatever", "Whether", "Who", "Whoever", "How", "Where"}


def _modules_by_class():
    found = defaultdict(set)
    for file in python_files("src"):
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(file.relative_to(SOURCE).as_posix())
    return found


def test_no_class_name_names_two_things():
    shared = {name for name, modules in _modules_by_class().items() if len(modules) > 1}

    assert shared - SHARED.keys() == set()
    assert len(SHARED) <= MOST_SHARED


def test_a_modules_docstring_starts_with_the_thing():
    riddles = {
        name_of(file)
        for file in python_files("src")
        if (ast.get_docstring(tree_of(file)) or "-").split()[0].strip(",:;") in _RIDDLES
    }

    assert riddles == set()
