"""A wrong argument is a type error: mypy finds every mistake in `public_types.py`, and no other."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_type_checker_reports_exactly_the_marked_lines():
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "tests/app/public_types.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (found.stdout.strip(), found.returncode) == (
        "Success: no issues found in 1 source file",
        0,
    ), found.stderr
