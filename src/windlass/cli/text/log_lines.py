"""Prints log lines, of one job or of all jobs."""

import json
from typing import TYPE_CHECKING

from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.styles import LEVELS, moment

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import JsonObject


def print_line(call: Invocation, line: "JsonObject", *, with_job: bool = False) -> None:
    """Print a log line; with `with_job` also its job and definition."""
    out = call.out
    if out.format in ("json", "jsonl", "csv"):
        out.json_line(line)
        return
    fields = " ".join(f"{name}={_field(value)}" for name, value in line["fields"].items())
    text = f"{line['message']} {fields}".rstrip()
    at = moment(line["at"])
    if out.format != "people" or at is None:
        job = [line["job_id"], line["definition"]] if with_job else []
        out.row([line["at"], line["level"], *job, text])
        return
    level = out.style(f"{line['level']:<5}", LEVELS[line["level"]])
    job = [out.style(f"{line['job_id'][-8:]} {line['definition']}", dim=True)] if with_job else []
    out.data("  ".join([out.style(out.clock_time(at), dim=True), level, *job, text]))


def _field(value: object) -> str:
    return (
        value
        if isinstance(value, str) and " " not in value
        else json.dumps(value, ensure_ascii=False)
    )
