"""A sample definition, whose handler workers import by its path.

    await wl.definitions.create("sample_job", **SAMPLE_JOB)

Workers run it if the setting `worker.handler_paths` allows `windlass.samples`.
"""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from windlass.worker.context import JobContext

#: The options of the definition `sample_job`.
SAMPLE_JOB: Mapping[str, Any] = MappingProxyType(
    {
        "path": f"{__name__}.sample_job",
        "title": "Sample Background Job",
        "description": "Goes through some steps, reports progress, and stops when it is canceled.",
        "timeout": "60s",
        "priority": "normal",
        "max_attempts": 4,
        "enabled": True,
        "payload_schema": {
            "type": "object",
            "properties": {
                "steps": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
                "step_seconds": {"type": "number", "minimum": 0, "maximum": 60, "default": 0.5},
            },
            "additionalProperties": False,
        },
    }
)


def sample_job(ctx: JobContext, steps: int = 10, step_seconds: float = 0.5) -> dict[str, int]:
    """Go through some steps and report progress; between two of them it stops when canceled."""
    for step in range(steps):
        ctx.checkpoint()
        ctx.progress(step / steps, f"step {step + 1} of {steps}")
        time.sleep(step_seconds)
    ctx.progress(1.0, f"{steps} steps done")
    return {"steps": steps}
