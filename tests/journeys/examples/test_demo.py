"""The demo that `make demo` runs: its jobs do what its README says."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.shell import Shell

_ROOT = Path(__file__).parents[3]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, f"sqlite:///{tmp_path / 'demo.db'}")
    yield shell
    shell.close()


def test_the_demo_runs_every_kind_of_job(shell: Shell):
    demo = shell.start("dev", "--demo", WINDLASS_DATABASE_URL="sqlite:///real.db")
    demo.sees(r"^  Jobs")
    assert "19 found in" in demo.text

    shell.ok("enqueue", "payment.charge", "order=1", "card=declined", "token=tok", "-t", "acme")
    shell.ok("enqueue", "images.resize", "album=holiday", "count=6", "-t", "globex")
    shell.ok("enqueue", "primes.count", "below=1000")
    hello = shell.ok("enqueue", "hello", "name=Ada", "--wait", "--timeout", "60s")

    assert hello.out == "Hello, Ada!\n"
    demo.sees(r"✕ dead letter +payment.charge +\w+  acme .*Permanent: the bank declined the card")
    demo.sees(r"│ +images.resize .*% holiday \d of 6")
    demo.sees(r"✓ completed +primes.count .*→ 168")
    # What comes of itself.
    demo.sees("completed", times=4, patience=60)

    demo.stop(signal.SIGINT)
    demo.stop(signal.SIGINT)
    assert demo.ends() == 0
    assert "Traceback" not in demo.text
    assert not (shell.folder / "real.db").exists()


def test_make_demo_runs_it():
    planned = subprocess.run(
        ["make", "-n", "demo"], cwd=_ROOT, check=True, capture_output=True, text=True
    ).stdout

    assert "windlass dev --demo" in planned
