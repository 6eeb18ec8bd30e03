"""No dead fields: each field of a definition is read by the code or shown to users."""

import ast
from dataclasses import fields
from pathlib import Path

import windlass
from windlass.core.definitions.definition import Definition

SOURCE = Path(windlass.__file__).parent
#: They carry every field, whether anybody reads it or not.
_CARRIERS = (SOURCE / "storage", SOURCE / "core" / "definitions" / "definition.py")


def test_every_field_of_a_definition_is_read_or_shown():
    used = set()
    for file in SOURCE.rglob("*.py"):
        if not any(file.is_relative_to(each) for each in _CARRIERS):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                match node:
                    case ast.Attribute(attr=name, ctx=ast.Load()):
                        used.add(name)
                    case ast.Subscript(slice=ast.Constant(value=str(name))):
                        used.add(name)  # `windlass definitions show` reads JSON

    assert [each.name for each in fields(Definition) if each.name not in used] == []
