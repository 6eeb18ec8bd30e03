"""Log lines as they are printed."""

import json
from typing import TYPE_CHECKING

from windlass.cli.call import Call
from windlass.cli.look import LEVELS, moment, safe

if TYPE_CHECKING:
    from windlass.cli.client import Shown


def print_line(call: Call, line: "Shown") -> None:
    """One line: for a person, tab-separated for a program, or as JSON if that was asked for."""
    out = call.out
    if out.format in ("json", "jsonl", "csv"):
        out.data(json.dumps(line, ensure_ascii=False))
        return
    fields = " ".join(f"{name}={_field(value)}" for name, value in line["fields"].items())
    text = safe(f"{line['message']} {fields}".rstrip())
    at = moment(line["at"])
    if out.format != "people" or at is None:
        out.data(f"{line['at']}\t{line['level']}\t{text}")
        return
    level = out.style(f"{line['level']:<5}", LEVELS[line["level"]])
    out.data(f"{out.style(out.clock_time(at), dim=True)}  {level}  {text}")


def _field(value: object) -> str:
    return (
        value
        if isinstance(value, str) and " " not in value
        else json.dumps(value, ensure_ascii=False)
    )
