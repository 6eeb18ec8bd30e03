"""A wrong argument is a type error: mypy finds every mistake in `typing_public.py`, and no other."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_a_type_checker_finds_wrong_arguments_and_only_those():
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "tests/typing_public.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (found.stdout.strip(), found.returncode) == (
        "Success: no issues found in 1 source file",
        0,
    ), found.stderr
