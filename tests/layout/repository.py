"""The repository as the layout checks see it: folders, Python files, and their classes."""

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "windlass"
#: Every package has these; they say nothing about how full a folder is.
_NOT_COUNTED = {"__init__.py", "__pycache__", "py.typed", "node_modules", "results"}


def name_of(path: Path) -> str:
    """A path as a person writes it: from the root of the repository, with slashes."""
    return path.relative_to(ROOT).as_posix()


def folders(top: str) -> Iterator[tuple[str, list[str]]]:
    """Each folder below a top one, itself included, with its entries."""
    for found, below, files in os.walk(ROOT / top):
        below[:] = sorted(set(below) - _NOT_COUNTED)
        yield name_of(Path(found)), [*below, *sorted(set(files) - _NOT_COUNTED)]


def python_files(*tops: str) -> list[Path]:
    """Every Python file below some top folders."""
    return sorted(file for top in tops for file in (ROOT / top).rglob("*.py"))


@cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(file.read_text("utf-8"))
