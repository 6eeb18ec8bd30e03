"""Times in JSON output have a fixed width."""

import re

from tests.support.processes.shell import Shell

_TIME = re.compile(r'"(\d{4}-\d{2}-\d{2}T[^"]*)"|\t(\d{4}-\d{2}-\d{2}T[^\t\n]*)')
_FIXED = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z")


def test_every_time_has_microseconds_and_a_z(ready: Shell):
    job = ready.here("enqueue", "hello", "name=Ada", "--at", "2099-01-01T00:00Z").out.strip()
    ready.here(
        "schedules", "create", "--name", "launch", "--definition", "fail",
        "--at", "2099-01-01T09:00+01:00",
    )  # fmt: skip
    ready.here("jobs", "update", job, "--at", "2099-02-01T00:00Z")
    ready.here("tokens", "create", "ci")

    for line in (
        "jobs list", f"jobs show {job}", f"jobs history {job}", "schedules list", "tokens list",
        "audit list -t default", "top --once",
    ):  # fmt: skip
        for form in ("json", "table"):
            text = ready.here(*line.split(), "-o", form).out
            times = [one or other for one, other in _TIME.findall(text)]
            assert times or form == "table", line
            assert [time for time in times if not _FIXED.fullmatch(time)] == [], line
