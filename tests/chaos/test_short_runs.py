"""A short seeded chaos run on each set-up: every kind of fault once, on real processes.

A seed that found something stays here for ever.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.conftest import a_turn

_ROOT = Path(__file__).parents[2]
#: Jobs all the time, but not as many as the machine can run: other tests run beside this.
_SIZE = ("--jobs", "300", "--pause", "0.2")
#: Far more than a run takes, also on a machine that is busy.
_SECONDS = 600


def on(database, setup, seed=2):
    return pytest.param(setup, seed, id=f"{setup}-{seed}", marks=pytest.mark.database(database))


@pytest.mark.timeout(_SECONDS + 60)
@pytest.mark.parametrize(
    ("setup", "seed"),
    [
        on("sqlite", "sqlite"),
        on("postgresql", "postgresql"),
        on("postgresql", "pgbouncer"),
        on("mariadb", "mariadb"),
    ],
)
def test_every_invariant_holds_through_every_kind_of_fault(setup, seed):
    run = [sys.executable, "-m", "tests.chaos", setup, "--seed", str(seed), *_SIZE]
    # Each is a dozen processes: two at once would only make each other late.
    with a_turn("chaos", at_once=1):
        done = subprocess.run(
            run, cwd=_ROOT, check=False, timeout=_SECONDS, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    assert done.returncode == 0, done.stdout[-20_000:]
