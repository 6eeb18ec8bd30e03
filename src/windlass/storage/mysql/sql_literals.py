"""SQL literals: writes values into a statement's text.

The driver does the same, but far slower on large batches. Our connections always use UTF-8 and
never the mode in which a backslash is an ordinary character.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from windlass.storage.sql.statements import Statement

#: In characters; for shorter texts a variable costs more than it saves.
_WORTH_KEEPING = 1000


class RawSql(str):
    """Text that is already SQL."""

    __slots__ = ()


def literal(value: Any) -> str:
    """`value` as a SQL literal. A tuple becomes a list for `in`; an empty one matches nothing."""
    match value:
        case None:
            return "null"
        case bool():
            return "1" if value else "0"
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} cannot be stored")
            return repr(value)
        case RawSql():
            return value
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0")
            return f"'{escaped}'"
        case tuple():
            return f"({','.join(map(literal, value)) or 'null'})"
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be written into a statement")


def interpolate(statement: Statement, values: Mapping[str, Any]) -> str:
    """The statement's text with its values filled in."""
    return statement.text % {name: literal(values[name]) for name in statement.names}


def cached_text(
    script: Sequence[Statement], values: Mapping[str, Any]
) -> tuple[str, dict[str, str]]:
    """A statement to run first, if any, and the text of a script's values. The statement puts long
    values that are used several times into variables, so that they are sent once."""
    uses = Counter(name for statement in script for name in statement.names)
    texts = {name: literal(values[name]) for name in uses}
    long = [name for name, text in texts.items() if len(text) > _WORTH_KEEPING and uses[name] > 1]
    keep = ", ".join(f"@given_{name} = {texts[name]}" for name in long)
    return f"set {keep}" if keep else "", texts | {name: f"@given_{name}" for name in long}
