"""The engine is the only caller of storage's verbs."""

import ast
from pathlib import Path

import pytest

import windlass

SOURCE = Path(windlass.__file__).parent
#: Layers that may hold a storage: what it belongs to, and what tests of handlers are made with.
HOLDERS = {"engine", "storage", "testing"}
MODULES = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in HOLDERS
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_layer_calls_the_storage(path):
    tree = ast.parse(path.read_text("utf-8"))

    reached = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("storage", "_storage")
    ]

    assert reached == []
