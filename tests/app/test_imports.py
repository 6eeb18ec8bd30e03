"""`import windlass` is cheap: a program that declares and enqueues does not load what runs jobs."""

import subprocess
import sys

import pytest

_LOADED = "import sys; exec(sys.argv[1]); print(*sys.modules)"
#: Of others, and Windlass's own parts: what runs jobs, reads them, shows them and serves them.
_HEAVY = frozenset(
    {
        "click", "ctypes", "email", "fastapi", "httpx2", "multiprocessing", "psycopg", "pydantic",
        "pydantic_core", "rich", "smtplib", "sqlite3", "starlette", "structlog", "tempfile", "uvicorn",
        "windlass.api", "windlass.app.commands", "windlass.app.nouns", "windlass.app.running",
        "windlass.app.sync", "windlass.app.system_jobs", "windlass.cli", "windlass.core.triggers.schedule",
        "windlass.core.wire", "windlass.engine.jobs.enqueue",
        "windlass.upkeep", "windlass.worker.worker",
    }
)  # fmt: skip
_DECLARE = """
from windlass import Windlass

wl = Windlass()

@wl.job
async def hello(name: str = "Ada") -> str: ...
"""


def _loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("import windlass", frozenset[str]()),
        ("from windlass import Windlass", frozenset[str]()),
        # Its payloads are checked by pydantic.
        (_DECLARE, frozenset({"email", "pydantic", "pydantic_core", "tempfile"})),
    ],
    ids=["package", "class", "declaration"],
)
def test_a_program_that_only_declares_loads_nothing_that_runs_jobs(code, needed):
    assert _loaded(code) & (_HEAVY - needed) == set()
