"""From an empty folder to a completed job on screen, following the README."""

import re
from pathlib import Path

import pytest

from tests.support.processes.shell import Shell

_README = Path(__file__).parents[3] / "README.md"


@pytest.fixture
def told() -> dict[str, str]:
    """The code blocks of the README's first steps in a language; sample output has no language."""
    steps = _README.read_text("utf-8").partition("## Start")[2].partition("\n## ")[0]
    blocks = re.findall(r"```(\w*)\n(.*?)```", steps, re.DOTALL)
    return dict(reversed(blocks))


def test_it_takes_five_lines_and_two_commands(told):
    code = [line for line in told["python"].splitlines() if line and not line.startswith("#")]

    assert len(code) == 5
    assert [line.split("  ")[0] for line in told["shell"].splitlines()] == [
        "pip install windlass",
        "windlass dev jobs.py",
    ]


def test_the_first_job_runs_as_it_is_shown(told, tmp_path):
    shell = Shell(tmp_path)
    shell.write("jobs.py", told["python"])

    dev = shell.sit_at("dev", "jobs.py", NO_COLOR="1")
    dev.sees("e enqueue")
    dev.types("e")
    dev.sees(r"Enqueue \[hello name=Ada\]:")
    dev.types("\r")
    seen = dev.sees("completed")
    dev.types("q")
    code = dev.ends()
    shell.close()

    for line in told[""].splitlines():
        assert _without_what_changes(line) in _without_what_changes(seen)
    assert code == 0


def test_another_terminal_enqueues_with_the_example_command(shell: Shell):
    [line] = re.findall(r"`windlass (enqueue .*?)`", _README.read_text("utf-8"))
    dev = shell.start("dev", "jobs.py")
    dev.sees("development mode")

    assert shell.ok(*line.split()).lines == ["Hello, Ada!"]


def _without_what_changes(text: str) -> str:
    """Mask times, ids and durations, which differ each time."""
    for pattern in (r"\d\d:\d\d:\d\d", r"\b[0-9a-f]{8}\b", r"\b\d+ ms"):
        text = re.sub(pattern, "…", text)
    return re.sub(r" +", " ", text).strip()
